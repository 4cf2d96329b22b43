// List and article side by side: the article changes, the list stays; the address is that of the article all the same.
import { load } from "./tidings.js";
import { refresh } from "./counts.js";
import { row, show } from "./marks.js";
import { more, select } from "./lists.js";

const wide = matchMedia("(min-width: 1100px)");
export const isSplit = () =>
  wide.matches && document.documentElement.dataset.columns === "split" && !!document.querySelector("#column #list");
const blank = document.getElementById("pane")?.cloneNode(true);
let turn = 0;

export async function open(url, isNew = true) {
  const mine = ++turn;
  let got;
  try {
    got = await load(url, { headers: { "Tidings-Part": "pane" }, cache: "no-store" });
  } catch {
    got = { ok: false };
  }
  const pane = got.page?.getElementById("pane");
  if (mine !== turn) return;
  if (!got.ok || !pane?.dataset.entry) return location.assign(url);
  if (isNew) history.pushState({ pane: true }, "", url);
  document.title = got.page.title;
  put(document.adoptNode(pane));
  const one = row(pane.dataset.entry);
  if (one) {
    select(one, false);
    lead(pane, "prev", one.previousElementSibling);
    lead(pane, "next", one.nextElementSibling);
    one.scrollIntoView({ block: "nearest" });
    if (!pane.querySelector("button[name=read]")) show(pane.dataset.entry, "read");
    if (!one.nextElementSibling?.nextElementSibling) more();
  }
  refresh();
}

// To what stands beside it in the list that is here: in one of unread entries, those that were read meanwhile are too.
function lead(pane, rel, one) {
  const url = one?.querySelector(".row-title a").href;
  if (!url) return;
  for (const link of pane.querySelectorAll(`[rel=${rel}]`)) {
    link.href = url;
    link.removeAttribute("aria-disabled");
  }
}

// Keys that the browser knows by itself (arrows) scroll what has the focus. Nothing is taken from a field or a dialog.
function takeFocus() {
  if (document.activeElement?.closest("input, textarea, select, dialog, :popover-open")) return;
  document.querySelector("#pane[data-entry]")?.focus({ preventScroll: true });
}

function put(pane) {
  document.getElementById("pane").replaceWith(pane);
  document.dispatchEvent(new CustomEvent("tidings:swapped", { detail: { ids: ["pane"] } }));
}

document.addEventListener("tidings:swapped", ({ detail }) => detail.ids.includes("pane") && isSplit() && takeFocus());
document.addEventListener("click", (event) => {
  if (event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = event.target.closest?.(".row-title a, #pane [rel=next], #pane [rel=prev]");
  if (!link?.href || link.relList.contains("external") || !isSplit()) return;
  event.preventDefault();
  open(link.href);
});
addEventListener("popstate", (event) => {
  if (event.state?.pane && isSplit()) open(location.href, false);
  else if (event.state?.list && isSplit()) {
    turn++;
    document.title = event.state.list;
    put(blank.cloneNode(true));
  } else location.reload();
});
if (document.getElementById("pane")) {
  history.replaceState(document.querySelector("#pane[data-entry]") ? { pane: true } : { list: document.title }, "");
  if (isSplit()) takeFocus();
}
