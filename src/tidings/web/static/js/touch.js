// Touch gestures; parts.js calls this module for each touch. In a list, swiping a row right toggles read, left toggles
// the star, and a long touch opens its labels. In an article the account's gesture_nav decides; swiping right goes back to the list (with gesture_nav
// "swipe" only from the left edge). In languages that run from right to left, all of this is mirrored: `dx` and `x` are
// measured along the line.
import { byId, find } from "./page.js";
import { scroller } from "./lists.js";
import { pane, toggle } from "./marks.js";
import { withPart } from "./parts.js";

const ahead = document.dir === "rtl" ? -1 : 1;
const MIN_SWIPE_PX = 72;
const EDGE_PX = 32;
const MIN_PULL_PX = 96;
const DOUBLE_TAP_MS = 350;
const HOLD_MS = 500;
const CLICK_MS = 400;
const ENDS = ["touchend", "touchcancel"];
const root = document.documentElement.dataset;
const click = (selector) => find(selector)?.click();
let start = null;
let lastTap = -Infinity;
let timer = 0;
let isHeld = false;

// Show icon and word of what the swipe does: those of the row's own button.
function reveal(row, names, isAtEnd) {
  const button = row.querySelector(names.map((name) => `button[name=${name}]`).join());
  const shown = row.querySelector(".swipe") ?? row.appendChild(document.createElement("div"));
  shown.className = isAtEnd ? "swipe at-end" : "swipe";
  shown.ariaHidden = "true";
  if (shown.title !== button.title) shown.replaceChildren(button.firstElementChild.cloneNode(true), button.title);
  shown.title = button.title;
}

export function touchstart(event) {
  const { clientX, clientY: y, target } = event.touches[0];
  const x = ahead > 0 ? clientX : innerWidth - clientX;
  start =
    event.touches.length > 1 ||
    target.closest(".sidebar, [popover], pre, table, input, audio, video, .bottom, .playing")
      ? null
      : {
          clientX,
          x,
          y,
          row: root.density === "stream" ? null : target.closest("#list .row"),
          inside: !!pane() && !target.closest("#column"),
          list: target.closest("#column:not(.beside)") && scroller().scrollTop <= 0,
        };
  clearTimeout(timer);
  if (start?.row) timer = setTimeout(hold, HOLD_MS);
}

// A finger that stays on a row opens what can be done with it. It does not open the article when it is lifted.
function hold() {
  clearTimeout(timer);
  if (!start?.row || start.kind) return;
  const { row } = start;
  start = null;
  isHeld = true;
  // Not what keys press.
  const stop = (event) => event.detail && (event.preventDefault(), event.stopPropagation());
  addEventListener("click", stop, { capture: true });
  const release = () => {
    isHeld = false;
    for (const name of ENDS) removeEventListener(name, release);
    setTimeout(() => removeEventListener("click", stop, { capture: true }), CLICK_MS);
  };
  for (const name of ENDS) addEventListener(name, release);
  withPart("held", ({ open }) => open(row));
}
// Browsers that show a menu of their own say so in time; the others wait as long.
document.addEventListener("contextmenu", (event) => {
  if (start?.row || isHeld) event.preventDefault();
  hold();
});

export function touchmove(event) {
  if (!start) return;
  const dx = ahead * (event.touches[0].clientX - start.clientX);
  const dy = event.touches[0].clientY - start.y;
  if (!start.kind && Math.hypot(dx, dy) > 12) start.kind = Math.abs(dx) > 2 * Math.abs(dy) ? "swipe" : "scroll";
  start.dx = dx;
  start.dy = dy;
  if (start.kind === "scroll" && start.list) pull(dy);
  if (start.kind !== "swipe" || !start.row || !("swipe" in root)) return;
  start.row.classList.add("is-swiped");
  reveal(start.row, dx > 0 ? ["read", "unread"] : ["star", "unstar"], dx < 0);
  start.row.dataset.far = Math.abs(dx) < MIN_SWIPE_PX ? "" : dx > 0 ? "read" : "star";
  const shown = Math.max(-1.5 * MIN_SWIPE_PX, Math.min(1.5 * MIN_SWIPE_PX, dx));
  start.row.style.setProperty("--dx", `${ahead * shown}px`);
}

// Pulling a list down from its beginning refreshes its feeds.
function pull(by) {
  const form = byId("refresh");
  if (!form) return false;
  const isFar = by >= MIN_PULL_PX;
  byId("column").style.translate = by > 0 ? `0 ${Math.min(by, MIN_PULL_PX) / 2}px` : "";
  form.toggleAttribute("data-pulled", isFar);
  return isFar;
}

function settle(row) {
  row?.classList.remove("is-swiped");
  row?.style.removeProperty("--dx");
  row?.querySelector(".swipe")?.remove();
  delete row?.dataset.far;
}

export function touchcancel() {
  clearTimeout(timer);
  settle(start?.row);
  if (start?.list) pull(0);
  start = null;
}

export function touchend(event) {
  clearTimeout(timer);
  const { row, kind, dx = 0, dy = 0, inside, x, list } = start ?? {};
  start = null;
  if (list && kind === "scroll") {
    if (pull(dy)) byId("refresh").requestSubmit();
    pull(0);
  }
  if (row) {
    settle(row);
    const id = row.id.slice(1);
    if (kind === "swipe" && Math.abs(dx) >= MIN_SWIPE_PX && "swipe" in root)
      toggle(id, ...(dx > 0 ? ["read", "unread"] : ["star", "unstar"]));
  } else if (inside && kind === "swipe" && Math.abs(dx) >= MIN_SWIPE_PX) {
    if (root.gesture === "swipe" && !(dx > 0 && x < EDGE_PX))
      click(`#pane .tools [rel=${dx < 0 ? "next" : "prev"}][href]`);
    else if (dx > 0) click(".to-list");
  } else if (inside && !kind && root.gesture === "tap" && !event.target.closest("a, button")) {
    const isSecond = event.timeStamp - lastTap < DOUBLE_TAP_MS;
    if (isSecond) click(`#pane .tools [rel=${x > innerWidth / 2 ? "next" : "prev"}][href]`);
    lastTap = isSecond ? -Infinity : event.timeStamp;
  }
}
