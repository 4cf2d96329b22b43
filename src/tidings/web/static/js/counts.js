// Unread counts: fetched after each change, and once a minute while the page is visible; less often where live.js
// tells when something has changed.
import { base, byId, find, findAll, getJson } from "./page.js";

let interval = 60_000;
let timer = 0;
let latest = 0;

export function refresh(wait = 250) {
  clearTimeout(timer);
  timer = setTimeout(ask, wait);
}

async function ask() {
  const request = ++latest;
  try {
    const counts = await getJson(`${base}/counts`);
    if (request === latest) show(counts);
    document.dispatchEvent(new CustomEvent("tidings:counted", { detail: counts }));
  } catch {
    // Offline: the next request will do.
  }
  refresh(interval);
}

export function setInterval(ms) {
  interval = ms;
}

export function show(counts) {
  if (!("unread" in counts)) return;
  for (const shown of findAll("[data-count]")) {
    const count = counts[shown.dataset.count] ?? 0;
    const more = counts.at_least.includes(shown.dataset.count) ? "+" : "";
    shown.textContent = count
      ? count.toLocaleString(document.documentElement.lang, { useGrouping: true }) + more
      : /^[cf]/.test(shown.dataset.count)
        ? 0
        : "";
    shown.closest(".line")?.classList.toggle("no-unread", !count && /^[cf]/.test(shown.dataset.count));
  }
  showTitle();
}

// Show the count of the list in the title of the page.
export function showTitle() {
  const own = !find("#pane[data-entry]") && find("#column .list-title")?.querySelector(".count:not([hidden])");
  const title = document.title.replace(/^\(\d[^)]*\) /, "");
  document.title = own?.textContent ? `(${own.textContent}) ${title}` : title;
}

document.addEventListener("visibilitychange", () => (document.hidden ? clearTimeout(timer) : refresh(0)));
// A page from the browser's memory shows what was true when it was left.
addEventListener("pageshow", (event) => event.persisted && refresh(0));
if (byId("sidebar")) {
  showTitle();
  // Slow counts of saved views on the page are from before the last change.
  refresh(find("[data-old]") ? 0 : interval);
}
