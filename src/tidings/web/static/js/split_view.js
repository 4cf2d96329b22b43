// List and article side by side: opening an entry replaces the article and the address, and keeps the list.
import { byId, find, words } from "./page.js";
import { isExpired, load, offer, swapped } from "./tidings.js";
import { addPart } from "./parts.js";
import { refresh, showTitle } from "./counts.js";
import { changes, row, show } from "./marks.js";
import { hasColumns, more, select } from "./lists.js";

export const isSplit = () => hasColumns() && !!find("#column #list");
const blank = byId("pane")?.cloneNode(true);
let lastRequest = 0;

export async function open(url, isNew = true) {
  const request = ++lastRequest;
  const before = changes.length;
  let response;
  byId("pane").ariaBusy = "true";
  try {
    response = await load(url, { headers: { "Tidings-Part": "pane" }, cache: "no-store" });
  } catch {
    response = null;
  }
  if (request !== lastRequest) return;
  byId("pane").ariaBusy = null;
  if (!response) return offer(words.offline, words.retry, () => open(url, isNew));
  if (isExpired(response.url)) return;
  const pane = response.page?.getElementById("pane");
  if (!response.ok || !pane?.dataset.entry) return location.assign(url);
  if (isNew) history.pushState({ pane: true }, "", url);
  document.title = response.page.title;
  put(document.adoptNode(pane));
  const { entry } = pane.dataset;
  const one = row(entry);
  if (one) {
    select(one, false);
    one.scrollIntoView({ block: "nearest" });
    if (!pane.querySelector("button[name=read]")) show(entry, "read");
    if (!(one.nextElementSibling?.nextElementSibling || one.parentElement.nextElementSibling)) more();
  }
  // What was changed while the article was on its way.
  for (const { name, ids } of changes.slice(before)) if (name && ids.includes(entry)) show(entry, name);
  refresh();
}

// The browser's own keys (arrows) scroll the focused element. Fields and dialogs keep the focus.
function takeFocus() {
  const pane = find("#pane[data-entry]");
  if (!pane) return;
  addPart("scroll");
  if (document.activeElement?.closest("input, textarea, select, dialog, :popover-open")) return;
  pane.focus({ preventScroll: true });
}

function put(pane) {
  byId("pane").replaceWith(pane);
  swapped(["pane"]);
}

document.addEventListener("tidings:swapped", ({ detail }) => detail.ids.includes("pane") && isSplit() && takeFocus());
document.addEventListener("click", (event) => {
  if (event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey)
    return;
  const link = event.target.closest?.(".row-title a, :is(#pane, .bottom) :is([rel=next], [rel=prev])");
  if (!link?.href || link.relList.contains("external")) return;
  if (isSplit()) open(link.href);
  // In one column, Back leads from any article to the list.
  else if (link.matches("[rel]")) location.replace(link.href);
  else return;
  event.preventDefault();
});
addEventListener("popstate", (event) => {
  if (event.state?.pane && isSplit()) open(location.href, false);
  else if (event.state?.list && isSplit()) {
    lastRequest++;
    document.title = event.state.list;
    put(blank.cloneNode(true));
    showTitle();
    refresh(0);
  } else location.reload();
});
if (byId("pane")) {
  history.replaceState(find("#pane[data-entry]") ? { pane: true } : { list: document.title }, "");
  if (isSplit()) takeFocus();
}
