// Endless lists, marking entries read when they are scrolled past, and restoring the scroll position.
import { byId, find, findAll, words } from "./page.js";
import { announce, beforeLeaving, isExpired, load, offer } from "./tidings.js";
import { isUnread, mark, row } from "./marks.js";

const PASSING_MS = 800;
const STORAGE_KEY = "tidings:places";
const MAX_PLACES = 10;
const path = () => location.pathname + location.search;
// By path, the one that was left last at the end.
const places = () => JSON.parse(sessionStorage.getItem(STORAGE_KEY) ?? "{}");
let loading = null;

// Append the next page of the list. Returns false at the end, null when the page could not be read, after saying so.
export function more() {
  loading ??= append().finally(() => (loading = null));
  return loading;
}

async function append() {
  const pager = find("#list .pager");
  const link = pager?.querySelector("[rel=next]");
  const rows = find("#list .rows");
  if (!link || !rows) return false;
  try {
    const { page, url, ok } = await load(link.href, { headers: { "Tidings-Part": "list" } });
    if (isExpired(url)) return null;
    if (!ok) return announce(words.failed) ?? null;
    const found = page.querySelectorAll("#list .row");
    rows.append(...[...found].filter((one) => !row(one.id.slice(1))).map((one) => document.adoptNode(one)));
    const next = page.querySelector("#list .pager [rel=next]");
    if (next) link.href = next.getAttribute("href");
    else pager.remove();
    watch();
    return found.length > 0;
  } catch {
    offer(words.offline, words.retry, more);
    return null;
  }
}

let end = null;
let timer = 0;
// Entries that were scrolled past before. One that the user marks unread again stays unread.
const passed = new Set();

// Mark all entries above the first visible one, however fast the user scrolls.
function markPassed(marks = true) {
  clearTimeout(timer);
  const column = find("#column:not(.beside)");
  if (document.documentElement.dataset.passing !== "mark" || !column?.checkVisibility()) return;
  const top = scroller() === column ? column.getBoundingClientRect().top : 0;
  const ids = [];
  for (const one of column.querySelectorAll(".row")) {
    if (one.getBoundingClientRect().bottom > top + 1) break;
    const id = one.id.slice(1);
    if (isUnread(one) && !passed.has(id)) ids.push(id);
    passed.add(id);
  }
  if (marks) mark("read", ids);
}

function watch() {
  const pager = find("#list .pager");
  end?.disconnect();
  // rootMargin has no effect on a column that scrolls by itself unless the column is the root.
  const root = scroller() === document.scrollingElement ? null : scroller();
  end = new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && more(), {
    root,
    rootMargin: "0px 0px 1500px 0px",
  });
  if (pager) end.observe(pager);
}

// What scrolls the list: its column, or the page.
export const scroller = () => {
  const column = byId("column");
  return column && getComputedStyle(column).overflowY === "auto" ? column : document.scrollingElement;
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
  const found = () => place.ids.map(byId).find(Boolean);
  while (!found() && findAll("#list .row").length < place.count && (await more()));
  const current = byId(place.current);
  current?.setAttribute("aria-current", "true");
  current?.querySelector(".row-title a").focus({ preventScroll: true });
  const target = found();
  if (target) scroller().scrollBy({ top: target.getBoundingClientRect().top - place.offset, behavior: "instant" });
  markPassed(false);
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
document.addEventListener("tidings:swapped", watch);
watch();
restorePosition();

// The row that keys act on: the focused one, else the one opened last.
export const chosen = () => find(".row:focus-within") ?? find(".row[aria-current]");

export function select(one, isFocused = true) {
  for (const other of findAll(".row[aria-current]")) other.removeAttribute("aria-current");
  one.setAttribute("aria-current", "true");
  if (!isFocused) return;
  one.querySelector(".row-title a").focus({ preventScroll: true });
  one.scrollIntoView({ block: "nearest" });
}
