// Categories and labels, one in a line: Escape gives a name back as it was, and labels are dragged into their order.
import { base, byId, find } from "./page.js";
import { swap } from "./tidings.js";
import { post } from "./marks.js";

// The name or button that had the focus before the lines were replaced.
let last = "";

document.addEventListener("keydown", ({ target, key }) => {
  if (key !== "Escape" || !target.matches?.(".categories input")) return;
  target.form.reset();
  target.blur();
});
document.addEventListener("submit", ({ target }) => {
  if (target.matches(".categories form")) last = document.activeElement?.id;
});
document.addEventListener("tidings:swapped", () => {
  const next = find(".categories [autofocus]") ?? (last && byId(last));
  last = "";
  if (next) next.focus();
});

let dragged = null;
const lines = () => [...dragged.parentElement.children];
let from = 0;

function start(target) {
  dragged = target.closest?.(".handle")?.closest("li");
  if (dragged) from = lines().indexOf(dragged);
}

// The others move: an element that leaves its place for a moment loses the finger that is on it.
function moveTo(line, y) {
  if (line === dragged) return;
  const { top, height } = line.getBoundingClientRect();
  const isBefore = y < top + height / 2;
  if (lines().indexOf(line) < lines().indexOf(dragged)) {
    const before = isBefore ? line.previousElementSibling : line;
    while (dragged.previousElementSibling !== before) dragged.after(dragged.previousElementSibling);
  } else {
    const after = isBefore ? line : line.nextElementSibling;
    while (dragged.nextElementSibling !== after) dragged.before(dragged.nextElementSibling);
  }
}

async function stop() {
  if (!dragged) return;
  const [id, place] = [dragged.id.slice(1), lines().indexOf(dragged)];
  dragged = null;
  if (place !== from) await post(`${base}/labels/${id}/move`, { up: place + 1 }, null, null);
  if (place !== from) swap(`${base}/labels`, ["labels", "own-labels"]);
}

document.addEventListener("dragstart", ({ target, dataTransfer }) => {
  start(target);
  if (dragged) dataTransfer.setDragImage(dragged, 0, 0);
});
document.addEventListener("dragover", (event) => {
  const line = dragged && event.target.closest?.(".categories > li");
  if (!line) return;
  event.preventDefault();
  moveTo(line, event.clientY);
});
document.addEventListener("drop", (event) => dragged && event.preventDefault());
document.addEventListener("dragend", stop);

// With a finger or a pen, for which browsers drag nothing, or only after a long touch.
let finger = null;
document.addEventListener("pointerdown", ({ target, pointerType, pointerId }) => {
  const handle = pointerType !== "mouse" && target.closest?.(".handle");
  if (!handle) return;
  handle.draggable = false;
  finger = { pointerId, handle };
  start(handle);
});
document.addEventListener("pointermove", ({ pointerId, clientY }) => {
  if (pointerId !== finger?.pointerId || !dragged) return;
  const line = lines().find((one) => clientY < one.getBoundingClientRect().bottom);
  moveTo(line ?? lines().at(-1), clientY);
});
for (const name of ["pointerup", "pointercancel"]) {
  document.addEventListener(name, ({ pointerId }) => {
    if (pointerId !== finger?.pointerId) return;
    finger.handle.draggable = true;
    finger = null;
    stop();
  });
}
