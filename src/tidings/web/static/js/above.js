// Rows before the first one, where a page shows its list from the middle: they are added when the reader scrolls up to
// them, or goes on with a key. What is in view stays where it is.
import { byId, find, findAll } from "./page.js";
import { extend, hasColumns, markPassed, scroller } from "./lists.js";

let loading = null;
let seen = null;

// Add the page before the list. Returns false at its beginning, null when the page could not be read, after saying so.
export function before() {
  loading ??= extend("prev", put, before).finally(() => {
    loading = null;
    watch();
  });
  return loading;
}

function put(form, parts) {
  const box = scroller();
  const kept = findAll("#list .row").find((one) => one.getBoundingClientRect().bottom > 0);
  const top = kept.getBoundingClientRect().top;
  const first = form.querySelector(".rows");
  const [head, above] = [first.firstElementChild, [...(parts.at(-1)?.querySelectorAll(".day") ?? [])].at(-1)];
  // The browser's own correction, which has none at the very top, would be added to this one.
  box.style.overflowAnchor = "none";
  first.before(...parts);
  if (head.matches(".day") && head.textContent === above?.textContent) head.remove();
  // When the link to further ones is gone too, and still before the next frame.
  queueMicrotask(() => {
    box.scrollBy({ top: kept.getBoundingClientRect().top - top, behavior: "instant" });
    box.style.overflowAnchor = "";
    // Nobody has seen the rows above yet.
    markPassed(false);
  });
}

function watch() {
  seen?.disconnect();
  const link = find("#list > .above");
  if (!link) return;
  seen = new IntersectionObserver((all) => all.some((one) => one.isIntersecting) && before(), {
    root: hasColumns() ? byId("column") : null,
    rootMargin: "200px 0px 0px 0px",
  });
  seen.observe(link);
}

watch();
document.addEventListener("tidings:swapped", ({ detail }) => detail.ids.includes("list") && watch());
