// Pages about subscriptions: progress, busy buttons and check boxes.

import { byId, find, findAll } from "./page.js";
import { swap } from "./tidings.js";

// The progress of an import, and of the first checks after it.
const progress = () => find("[data-waiting]");
const parts = ["progress", "import-run"].filter(byId);
const poll = async () => {
  if (!document.hidden && progress()) await swap(progress().dataset.waiting, parts);
  if (progress()) setTimeout(poll, 2000);
};
if (progress()) setTimeout(poll, 1000);

// A button that waits for a publisher is pressed once.
addEventListener("submit", ({ target, submitter, defaultPrevented }) => {
  if (defaultPrevented || !target.matches("[action$='/feeds/find'], [action$='/feeds/add'], [data-slow]") || !submitter)
    return;
  submitter.setAttribute("aria-busy", "true");
  setTimeout(() => {
    submitter.disabled = true;
  });
});
addEventListener("pageshow", () => {
  for (const button of findAll("[aria-busy]")) {
    button.disabled = false;
    button.removeAttribute("aria-busy");
  }
});

// The check box that ticks all of the page.
const all = find("[data-all]");
if (all) {
  const boxes = findAll("#bulk [name=feed]");
  const count = () => {
    const ticked = boxes.filter((box) => box.checked).length;
    all.checked = boxes.length > 0 && ticked === boxes.length;
    all.indeterminate = ticked > 0 && !all.checked;
  };
  let last = null;
  all.addEventListener("change", () =>
    boxes.forEach((box) => {
      box.checked = all.checked;
    }),
  );
  // With Shift, tick all boxes between the last one and this one.
  for (const box of boxes)
    box.addEventListener("click", (event) => {
      if (event.shiftKey && last) {
        const [from, to] = [boxes.indexOf(last), boxes.indexOf(box)].sort((a, b) => a - b);
        for (const one of boxes.slice(from, to + 1)) one.checked = box.checked;
      }
      last = box;
      count();
    });
  count();
}
