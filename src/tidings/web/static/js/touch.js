// Fingers: a row moves with the finger, right is read or unread, left a star. In an article as gesture_nav says; to the
// right goes back, where swiping leads to other entries from the edge only.
import { pane, toggle } from "./marks.js";

const FAR = 72;
const EDGE = 32;
const TWICE_MS = 350;
const root = document.documentElement.dataset;
const click = (selector) => document.querySelector(selector)?.click();
let start = null;
let lastTap = -Infinity;

addEventListener("touchstart", (event) => {
  const { clientX: x, clientY: y, target } = event.touches[0];
  start = event.touches.length > 1 || target.closest(".sidebar, [popover], pre, table, input, audio, video, .bottom") ? null : { x, y, row: target.closest("#list .row"), inside: !!pane() && !target.closest("#column") };
}, { passive: true });

addEventListener("touchmove", (event) => {
  if (!start) return;
  const dx = event.touches[0].clientX - start.x;
  const dy = event.touches[0].clientY - start.y;
  if (!start.is && Math.hypot(dx, dy) > 12) start.is = Math.abs(dx) > 2 * Math.abs(dy) ? "swipe" : "scroll";
  start.dx = dx;
  if (start.is !== "swipe" || !start.row || !("swipe" in root)) return;
  start.row.classList.add("is-swiped");
  start.row.dataset.far = Math.abs(dx) < FAR ? "" : dx > 0 ? "read" : "star";
  start.row.style.setProperty("--dx", `${Math.max(-1.5 * FAR, Math.min(1.5 * FAR, dx))}px`);
}, { passive: true });

addEventListener("touchend", (event) => {
  const { row, is, dx = 0, inside, x } = start ?? {};
  start = null;
  if (row) {
    row.classList.remove("is-swiped");
    row.style.removeProperty("--dx");
    delete row.dataset.far;
    const id = row.id.slice(1);
    if (is === "swipe" && Math.abs(dx) >= FAR && "swipe" in root) dx > 0 ? toggle(id, "read", "unread") : toggle(id, "star", "unstar");
  } else if (inside && is === "swipe" && Math.abs(dx) >= FAR) {
    if (root.gesture === "swipe" && !(dx > 0 && x < EDGE)) click(`#pane .tools [rel=${dx < 0 ? "next" : "prev"}][href]`);
    else if (dx > 0) click(".to-list");
  } else if (inside && !is && root.gesture === "tap" && !event.target.closest("a, button")) {
    const isSecond = event.timeStamp - lastTap < TWICE_MS;
    if (isSecond) click(`#pane .tools [rel=${x > innerWidth / 2 ? "next" : "prev"}][href]`);
    lastTap = isSecond ? -Infinity : event.timeStamp;
  }
}, { passive: true });
