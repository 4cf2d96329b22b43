// Unread counts: fetched after each change, and once a minute while the page is visible; less often where live.js
// tells when something has changed.
import { base, find, findAll, getJson } from "./page.js";

let interval = 60_000;
const icon = find("link[rel=icon]");
const plain = icon.href;
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
  paint(counts.unread);
}

// Show the count of the list in the title of the page.
export function showTitle() {
  const own = !find("#pane[data-entry]") && find("#column .list-title")?.querySelector(".count:not([hidden])");
  const title = document.title.replace(/^\(\d[^)]*\) /, "");
  document.title = own?.textContent ? `(${own.textContent}) ${title}` : title;
}

function paint(count) {
  showTitle();
  const shown = count > 99 ? "99+" : count;
  const badge = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect width="64" height="64" rx="14" fill="#b4441f"/><text x="32" y="45" font-family="system-ui,sans-serif" font-size="${count > 99 ? 28 : 36}" font-weight="700" text-anchor="middle" fill="#fbfaf7">${shown}</text></svg>`;
  icon.href = count && !first?.hidden ? `data:image/svg+xml,${encodeURIComponent(badge)}` : plain;
}

document.addEventListener("visibilitychange", () => (document.hidden ? clearTimeout(timer) : refresh(0)));
// A page from the browser's memory shows what was true when it was left.
addEventListener("pageshow", (event) => event.persisted && refresh(0));
const first = find("#sidebar [data-count=unread]");
if (first) {
  paint(Number(first.textContent.replace(/\D/g, "")));
  // Slow counts of saved views on the page are from before the last change.
  refresh(find("[data-old]") ? 0 : interval);
}
