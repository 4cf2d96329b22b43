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

document.addEventListener("dragstart", ({ target, dataTransfer }) => {
  dragged = target.closest?.(".handle")?.closest("li");
  if (!dragged) return;
  from = lines().indexOf(dragged);
  dataTransfer.setDragImage(dragged, 0, 0);
});
document.addEventListener("dragover", (event) => {
  const line = dragged && event.target.closest?.(".categories > li");
  if (!line) return;
  event.preventDefault();
  if (line === dragged) return;
  const { top, height } = line.getBoundingClientRect();
  if (event.clientY < top + height / 2) line.before(dragged);
  else line.after(dragged);
});
document.addEventListener("drop", (event) => dragged && event.preventDefault());
document.addEventListener("dragend", async () => {
  if (!dragged) return;
  const [id, place] = [dragged.id.slice(1), lines().indexOf(dragged)];
  dragged = null;
  if (place !== from) await post(`${base}/labels/${id}/move`, { up: place + 1 }, null, null);
  if (place !== from) swap(`${base}/labels`, ["labels", "own-labels"]);
});
