// Copies for reading offline. They show what has been marked since; opening one is a mark to send.
//
// A copy of the unread list in place of a feed's list, which is not kept: shows only what is of this feed.
import { base, byId, find, findAll, words } from "./page.js";
import { keep, keptMarks, show } from "./marks.js";

const path = location.pathname.slice(base.length);
const feed = /^\/feeds\/(\d+)$/.exec(path)?.[1];
const title = find("#column .list-title a");
if (feed && title && new URL(title.href).pathname !== location.pathname) {
  for (const row of findAll(`#list .row:not([data-feed="${feed}"])`)) row.remove();
  for (const day of findAll("#list .day")) if (!day.nextElementSibling?.matches(".row")) day.remove();
  const line = find(`#groups a.line[href="${base}${path}"]`);
  for (const one of findAll("#sidebar [aria-current]")) one.ariaCurrent = null;
  if (line) line.ariaCurrent = "page";
  title.textContent = line?.querySelector(".name").textContent ?? find("#list .row-from .name")?.textContent ?? "";
  title.href = location.href;
  document.title = title.textContent;
  find("#column .list-title .count")?.remove();
  byId("mark-all")?.remove();
  if (!find("#list .row")) byId("list").textContent = words.offline;
}

function showMarks() {
  const { entry } = find("#pane[data-saved][data-entry]:has(button[name=read])")?.dataset ?? {};
  if (entry && "viewed" in document.documentElement.dataset) keep([["read", entry]]);
  for (const [name, id] of keptMarks()) show(id, name);
}
document.addEventListener("tidings:swapped", showMarks);
showMarks();
