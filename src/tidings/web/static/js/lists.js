// Endless lists, marking entries read when they are scrolled past, and restoring the scroll position.
import { byId, find, findAll, words } from "./page.js";
import { announce, beforeLeaving, isExpired, load, offer, swapped } from "./tidings.js";
import { isUnread, mark, row } from "./marks.js";

const PASSING_MS = 800;
const STORAGE_KEY = "tidings:places";
const MAX_PLACES = 10;
const root = document.documentElement.dataset;
export const wide = matchMedia("(min-width: 1100px)");
// List and article scroll by themselves, next to each other (layout.css).
export const hasColumns = () => wide.matches && root.columns === "split";
// Whole articles. What is above this line has been read, when the next one is at its place.
export const isStream = root.density === "stream";
export const LINE_PX = 120;
const path = () => location.pathname + location.search;
// By path, the one that was left last at the end.
const places = () => JSON.parse(sessionStorage.getItem(STORAGE_KEY) ?? "{}");
let loading = null;
let cache = "default";
let marked = null;
// Looked for only when the list is new: there may be thousands of rows.
const current = () => (marked?.isConnected ? marked : (marked = find(".row[aria-current]")));

// Append the next page of the list. Returns false at the end, null when the page could not be read, after saying so.
export function more() {
  loading ??= extend("next", append, more).finally(() => (loading = null));
  return loading;
}

function append(form, parts) {
  for (const one of parts) {
    one.classList.add("later");
    one.style.setProperty("--rows", one.childElementCount);
  }
  form.append(...parts);
}

// Add the page that the list's link of a name (rel) leads to, by put(). The same is returned, and Retry calls again().
export async function extend(rel, put, again) {
  const link = find(`#list > * > [rel=${rel}]`);
  const form = find("#list > form");
  if (!link || !form) return false;
  try {
    const { page, url, ok } = await load(link.href, { headers: { "Tidings-Part": "list" }, cache });
    if (isExpired(url)) return null;
    if (!ok) return announce(words.failed) ?? null;
    for (const one of page.querySelectorAll("#list .row")) if (byId(one.id)) one.remove();
    const parts = [...page.querySelectorAll("#list .rows:has(.row)")];
    put(form, parts);
    const next = page.querySelector(`#list > * > [rel=${rel}]`);
    if (next) link.href = next.getAttribute("href");
    else link.parentElement.remove();
    watch();
    if (isStream) swapped(["rows"]);
    return !!next || parts.length > 0;
  } catch {
    offer(words.offline, words.retry, again);
    return null;
  }
}

let end = null;
let timer = 0;
// Entries that were scrolled past before. One that the user marks unread again stays unread.
const passed = new Set();

// Mark all entries above the first visible one, however fast the user scrolls.
export function markPassed(marks = true) {
  clearTimeout(timer);
  const column = find("#column:not(.beside)");
  if (root.passing !== "mark" || !column?.checkVisibility()) return;
  const top = isStream ? LINE_PX : scroller() === column ? column.getBoundingClientRect().top : 0;
  const ids = [];
  for (const one of column.querySelectorAll(".row")) {
    const id = one.id.slice(1);
    // To ask for the place of a row far above would lay it out again.
    if (passed.has(id)) continue;
    if (one.getBoundingClientRect().bottom > top + 1) break;
    if (isUnread(one)) ids.push(id);
    passed.add(id);
  }
  if (marks) mark("read", ids);
}

function watch() {
  const pager = find("#list .pager");
  end?.disconnect();
  // rootMargin has no effect on a column that scrolls by itself unless the column is the root.
  end = new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && more(), {
    root: hasColumns() ? byId("column") : null,
    rootMargin: "0px 0px 1500px 0px",
  });
  if (pager) end.observe(pager);
}

// What scrolls the list: its column, or the page. Asking for its style would lay out every row.
export const scroller = () => {
  const column = byId("column");
  return column && hasColumns() ? column : document.scrollingElement;
};

// Before leaving: store the list, the entry at the top, or the last one if all were scrolled past, and the open entry.
function savePosition() {
  markPassed();
  const column = find("#column:not(.beside)");
  const rows = column ? [...column.querySelectorAll(".row")] : [];
  const top = rows.findIndex((one) => one.getBoundingClientRect().bottom > 60);
  if (!rows.length) return;
  const place = {
    ids: rows.slice(top).map((one) => one.id),
    offset: rows.at(top).getBoundingClientRect().top,
    count: rows.length,
    current: column.querySelector(".row[aria-current]")?.id,
  };
  const { [path()]: _before, ...others } = places();
  const kept = [...Object.entries(others).slice(1 - MAX_PLACES), [path(), place]];
  sessionStorage.setItem(STORAGE_KEY, JSON.stringify(Object.fromEntries(kept)));
}

async function restorePosition() {
  const place = places()[path()];
  const arrival = performance.getEntriesByType("navigation")[0]?.type;
  const isBack = arrival === "back_forward" || sessionStorage.getItem(`${STORAGE_KEY}:back`);
  sessionStorage.removeItem(`${STORAGE_KEY}:back`);
  if (!isBack || !place) return row(find("#pane")?.dataset.entry)?.scrollIntoView({ block: "center" });
  root.exact = "";
  // The list as it was left, with what has been read since.
  cache = "force-cache";
  const found = () => place.ids.map(byId).find(Boolean);
  while (!found() && findAll("#list .row").length < place.count && (await more()));
  const opened = byId(place.current);
  if (opened) select(opened, false);
  opened?.querySelector(".row-title a").focus({ preventScroll: true });
  const target = found();
  if (target) scroller().scrollBy({ top: target.getBoundingClientRect().top - place.offset, behavior: "instant" });
  markPassed(false);
  cache = "default";
  // Now it is known how high they are.
  requestAnimationFrame(() => requestAnimationFrame(() => delete root.exact));
}

beforeLeaving(savePosition);
addEventListener(
  "scroll",
  () => {
    clearTimeout(timer);
    timer = setTimeout(markPassed, PASSING_MS);
  },
  { capture: true, passive: true },
);
document.addEventListener("click", (event) => {
  if (event.target.closest?.(".to-list")) sessionStorage.setItem(`${STORAGE_KEY}:back`, "1");
  const opened = event.target.closest?.("#column .row");
  if (opened && event.target.closest("a")) select(opened, false);
});
document.addEventListener("tidings:swapped", ({ detail }) => detail.ids.includes("list") && watch());
watch();
restorePosition();

// The row that keys act on: the focused one, else the one opened last.
export const chosen = () => document.activeElement?.closest(".row") ?? current();

export function select(one, isFocused = true) {
  current()?.removeAttribute("aria-current");
  one.setAttribute("aria-current", "true");
  marked = one;
  if (!isFocused) return;
  one.scrollIntoView({ block: "nearest" });
  one.querySelector(".row-title a").focus({ preventScroll: true });
}
