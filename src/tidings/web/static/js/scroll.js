// Space, PageUp, PageDown, Home and End scroll the article beside its list, wherever the focus is.
// At the end of the article, Space opens the next unread entry. keys.js knows when these keys are ours.
import { findAll, words } from "./page.js";
import { announce } from "./tidings.js";
import { isUnread, pane } from "./marks.js";
import { chosen, more } from "./lists.js";
import { open } from "./split_view.js";

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

async function openNextUnread() {
  const rows = findAll("#column .row");
  const after = rows.slice(rows.indexOf(chosen()) + 1);
  const next = after.find((one) => isUnread(one) && !one.querySelector(".row-title a[rel~=external]"));
  if (next) return open(next.querySelector(".row-title a").href);
  const added = rows.length > 0 && (await more());
  if (added) return openNextUnread();
  if (added === false) announce(words.end);
}

function space(isBack, isRepeated) {
  const box = pane();
  if (box && isBack) SCROLLS.PageUp(box);
  else if (box && positionOf(box) < endOf(box) - 1) SCROLLS.PageDown(box);
  // Holding the key down stops at the end of the article.
  else if (!isBack && !isRepeated) openNextUnread();
}

export function scrollArticle({ key, shiftKey, repeat }) {
  if (key === " ") space(shiftKey, repeat);
  else SCROLLS[key](pane());
}
