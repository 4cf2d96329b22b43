// Previous and Next keep the order of the list in which reading began, also after the entries that were read have left it.
import { byId, find, findAll, findInArticle } from "./page.js";

const STORAGE_KEY = "tidings:order";
// The entry that was open before.
const LAST_KEY = "tidings:order:last";
const pathOf = (url) => new URL(url, location.href).href.slice(location.origin.length);

let [list, found] = [null, []];
const changes = new MutationObserver(() => (list = null));

// Of thousands of rows this takes longer than a key may, and so does counting them: again after the list has changed.
function listed() {
  const now = byId("list");
  if (now && now === list && !changes.takeRecords().length) return found;
  changes.disconnect();
  list = now;
  if (list) changes.observe(list, { childList: true, subtree: true });
  found = findAll("#column .row-title a:not([rel~=external])").map((link) => link.getAttribute("href"));
  return found;
}

let stored = null;
// Another page of the tab may have stored its own.
addEventListener("pageshow", () => (stored = null));
const known = () => stored ?? JSON.parse(sessionStorage.getItem(STORAGE_KEY) ?? "[]");

function store(paths) {
  if (paths !== stored) sessionStorage.setItem(STORAGE_KEY, JSON.stringify(paths));
  stored = paths;
}

// The paths of the entries, in order. A list page begins a new order; the list beside an article only adds to it.
function order(here) {
  const [old, now] = [known(), listed()];
  if (find("#column:not(.beside) .row")) return now;
  // Beyond the end of what was listed, the server's link led here.
  if (old.length && old.at(-1) === sessionStorage.getItem(LAST_KEY) && !now.includes(old.at(-1)) && !old.includes(here))
    old.push(here);
  // What comes after the last common entry; what came before it arrived later.
  const common = now.findLastIndex((one) => old.includes(one));
  return old.includes(here) ? [...old, ...(common < 0 ? [] : now.slice(common + 1))] : now;
}

// Point the links of an article that is shown to its neighbours.
function linkNeighbours() {
  const here = pathOf(location.href);
  const paths = order(here);
  sessionStorage.setItem(LAST_KEY, here);
  store(paths);
  const at = paths.indexOf(here);
  if (at < 0) return;
  for (const [rel, path] of [
    ["prev", paths[at - 1]],
    ["next", paths[at + 1]],
  ]) {
    if (path)
      for (const link of findInArticle(`[rel=${rel}]`)) {
        link.href = path;
        link.removeAttribute("aria-disabled");
      }
  }
}

// The links of a list without an article: the order is stored when one of them is followed.
document.addEventListener("click", (event) => {
  if (event.target.closest?.("#column:not(.beside) .row-title a")) store(listed());
});
document.addEventListener(
  "tidings:swapped",
  ({ detail }) => detail.ids.includes("pane") && find("#pane[data-entry]") && linkNeighbours(),
);
if (find("#pane[data-entry]")) linkNeighbours();
