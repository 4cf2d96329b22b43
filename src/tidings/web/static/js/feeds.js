// Pages about subscriptions: progress and check boxes.
import { byId, find, findAll } from "./page.js";
import { swap } from "./tidings.js";
import { refresh } from "./counts.js";

// The progress of an import, and of the first checks after it.
const progress = () => find("[data-waiting]");
const parts = ["progress", "import-run"].filter(byId);
const poll = async () => {
  if (!document.hidden && progress()) {
    await swap(progress().dataset.waiting, parts);
    refresh(0);
  }
  if (progress()) setTimeout(poll, 2000);
};
if (progress()) setTimeout(poll, 1000);

// The check box that ticks all of the page.
const all = find("[data-all]");
const boxes = findAll("#bulk [name=feed]");
let last = null;

function count() {
  const ticked = boxes.filter((box) => box.checked).length;
  all.checked = boxes.length > 0 && ticked === boxes.length;
  all.indeterminate = ticked > 0 && !all.checked;
}
// Ticks that the browser has kept from before.
if (boxes.some((box) => box.checked)) count();

// With Shift, tick all boxes between the last one and this one. isTicked: after the click.
export function tick(box, isTicked, isRange) {
  if (box === all) for (const one of boxes) one.checked = isTicked;
  else if (isRange && last) {
    const [from, to] = [boxes.indexOf(last), boxes.indexOf(box)].sort((a, b) => a - b);
    for (const one of boxes.slice(from, to + 1)) one.checked = isTicked;
  }
  if (box !== all) last = box;
  count();
}
