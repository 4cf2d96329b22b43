// Dragging to the sidebar: a category is put under the one that it is dropped on, or at the top if that is none; a feed
// goes into the category, out of the one that it was dragged from; an entry gets the label.
import { base, byId } from "./page.js";
import { announce, swap } from "./tidings.js";
import { post } from "./marks.js";

const sidebar = byId("sidebar");
let dragged = null;
let over = null;

const group = (target) => target.closest?.("#groups .group > a.line");
const number = (line) => line.querySelector("[data-count]").dataset.count.slice(1);
const isEntry = () => dragged?.matches(".row");
const labelId = (line) => /\/labels\/(\d+)$/.exec(line?.getAttribute("href"))?.[1];

function show(line) {
  over?.classList.remove("is-target");
  over = line;
  over?.classList.add("is-target");
}

export function dragstart({ target }) {
  dragged = target.closest?.("#groups a.line:not(.more *), .row:has(a)");
}

// What would be dropped on, null for nothing.
function targetOf(event) {
  if (isEntry()) {
    const line = event.target.closest?.("#own-labels a.line");
    return labelId(line) ? line : null;
  }
  const line = group(event.target);
  const isPossible = group(dragged ?? sidebar) ? !dragged.parentElement.contains(line) : dragged && line;
  return isPossible ? line : null;
}

async function giveLabel(id, label) {
  const given = await post(`${base}/entries/${id}/labels`, { add: label }, null, null);
  if (!given) return;
  await swap(location.href, [`e${id}`]);
  announce(given.notice);
}

sidebar.addEventListener("dragover", (event) => {
  const line = targetOf(event);
  show(line);
  if (line || (!isEntry() && group(dragged ?? sidebar) && !group(event.target))) event.preventDefault();
});
document.addEventListener("dragend", () => show((dragged = null)));
sidebar.addEventListener("drop", async (event) => {
  event.preventDefault();
  const target = targetOf(event);
  if (isEntry()) {
    const id = dragged.id.slice(1);
    show(null);
    return target && giveLabel(id, labelId(target));
  }
  const parent = target ? number(target) : "";
  const from = dragged.closest(".group").firstElementChild;
  const moved = group(dragged)
    ? post(`${base}/categories/${number(dragged)}/move`, { parent }, null, null)
    : post(`${base}/feeds/bulk`, { action: `move:${parent}:${number(from)}`, feed: number(dragged) }, null, null);
  show(null);
  if (await moved) swap(location.href, ["groups"]);
});
