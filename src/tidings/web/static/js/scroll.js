// Space, PageUp, PageDown, Home and End scroll the article beside its list, wherever the focus is.
// At the end of the article, Space opens the next unread entry. Code and tables that scroll sideways can be focused.
import { findAll, words } from "./page.js";
import { announce } from "./tidings.js";
import { isUnread, pane } from "./marks.js";
import { chosen, more } from "./lists.js";
import { isSplit, open } from "./split_view.js";

// Scrolling by a page keeps this much of the previous one visible.
const OVERLAP_PX = 48;
const isCalm = matchMedia("(prefers-reduced-motion: reduce)");
// The target of a smooth scroll: the next key continues from there, not from the current position.
let goal = null;

const positionOf = (box) => (goal?.box === box ? goal.top : box.scrollTop);
const endOf = (box) => box.scrollHeight - box.clientHeight;
const pageOf = (box) => box.clientHeight - (box.querySelector(".tools")?.offsetHeight ?? 0) - OVERLAP_PX;

function scrollTo(box, position) {
  const top = Math.max(0, Math.min(endOf(box), position));
  goal = Math.abs(top - box.scrollTop) < 1 ? null : { box, top };
  box.onscrollend = () => (goal = null);
  box.scrollTo({ top, behavior: isCalm.matches ? "instant" : "smooth" });
}

const SCROLLS = {
  PageDown: (box) => scrollTo(box, positionOf(box) + pageOf(box)),
  PageUp: (box) => scrollTo(box, positionOf(box) - pageOf(box)),
  Home: (box) => scrollTo(box, 0),
  End: (box) => scrollTo(box, endOf(box)),
};

// Not every browser lets the keyboard reach what scrolls.
function reach() {
  for (const one of findAll(".content :is(pre, table)")) if (one.scrollWidth > one.clientWidth) one.tabIndex = 0;
}
reach();
document.addEventListener("tidings:swapped", reach);

async function openNextUnread() {
  const rows = findAll("#column .row");
  const after = rows.slice(rows.indexOf(chosen()) + 1);
  const next = after.find((one) => isUnread(one) && !one.querySelector(".row-title a[rel~=external]"));
  if (next) return open(next.querySelector(".row-title a").href);
  const added = rows.length > 0 && (await more());
  if (added) return openNextUnread();
  if (added === false) announce(words.end);
}

function space(event) {
  const box = pane();
  if (box && event.shiftKey) SCROLLS.PageUp(box);
  else if (box && positionOf(box) < endOf(box) - 1) SCROLLS.PageDown(box);
  // Holding the key down stops at the end of the article.
  else if (!event.shiftKey && !event.repeat) openNextUnread();
}

// Returns true when the key was handled.
export function scrollArticle(event) {
  const isSpace = event.key === " ";
  if (!isSplit() || event.target.closest?.(`audio, video, input, :popover-open${isSpace ? ", button, summary" : ""}`))
    return false;
  if (isSpace) space(event);
  else if (!pane() || event.shiftKey || !Object.hasOwn(SCROLLS, event.key)) return false;
  else SCROLLS[event.key](pane());
  return true;
}
