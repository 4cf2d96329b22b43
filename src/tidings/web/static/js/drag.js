// Dragging in the sidebar: a category is put under the one that it is dropped on, or at the top if that is none; a feed
// goes into the category, out of the one that it was dragged from.
import { base, byId } from "./page.js";
import { swap } from "./tidings.js";
import { post } from "./marks.js";

const sidebar = byId("sidebar");
let dragged = null;
let over = null;

const group = (target) => target.closest?.("#groups .group > a.line");
const number = (line) => line.querySelector("[data-count]").dataset.count.slice(1);

function show(line) {
  over?.classList.remove("is-target");
  over = line;
  over?.classList.add("is-target");
}

export function dragstart({ target }) {
  dragged = target.closest?.("#groups a.line:not(.more *)");
}

sidebar.addEventListener("dragover", (event) => {
  const line = group(event.target);
  const isPossible = group(dragged ?? sidebar) ? !dragged.parentElement.contains(line) : dragged && line;
  show(isPossible ? line : null);
  if (isPossible || (group(dragged ?? sidebar) && !line)) event.preventDefault();
});
sidebar.addEventListener("dragend", () => show((dragged = null)));
sidebar.addEventListener("drop", async (event) => {
  event.preventDefault();
  const target = group(event.target);
  const parent = target ? number(target) : "";
  const from = dragged.closest(".group").firstElementChild;
  const moved = group(dragged)
    ? post(`${base}/categories/${number(dragged)}/move`, { parent }, null, null)
    : post(`${base}/feeds/bulk`, { action: `move:${parent}:${number(from)}`, feed: number(dragged) }, null, null);
  show(null);
  if (await moved) swap(location.href, ["groups"]);
});
