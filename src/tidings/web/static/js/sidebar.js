// The sidebar: groups load their feeds when they are opened, the filter searches all feeds, and this device remembers
// which groups are open and how far the sidebar is scrolled.
import { base, byId } from "./page.js";
import { beforeLeaving, load } from "./tidings.js";
import { post } from "./marks.js";
import { addPart } from "./parts.js";

const STORAGE_KEY = "tidings:sidebar";
const sidebar = byId("sidebar");
const filter = sidebar?.querySelector("[name=name]");
const box = () => byId("groups");
let sending = Promise.resolve();

export async function ask(query) {
  const feed = byId("column")?.dataset.feed ?? "";
  const fields = new URLSearchParams({ ...query, feed });
  const { page, ok } = await load(`${base}/sidebar?${fields}`, { headers: { "Tidings-Part": "sidebar" } });
  return ok ? document.adoptNode(page.querySelector(".group-feeds")) : null;
}

// Load the feeds of a group that the page does not list. What is in view stays where it is.
async function fill(group) {
  const list = group.querySelector(":scope > .group-feeds:has(> .more)");
  if (!list || list.ariaBusy) return;
  list.ariaBusy = "true";
  const found = await ask({ category: group.dataset.group }).catch(() => null);
  if (!found) return (list.ariaBusy = null);
  const before = [...list.querySelectorAll("a.line")].find(
    (one) => one.getBoundingClientRect().bottom > box().getBoundingClientRect().top,
  );
  const top = before?.getBoundingClientRect().top;
  list.replaceWith(found);
  makeRoom();
  watch();
  const after = before && found.querySelector(`a[href="${before.getAttribute("href")}"]`);
  if (after) box().scrollTop += after.getBoundingClientRect().top - top;
}

// Feeds that are not loaded take as much room as those that are, so that the position stays. Hidden lines have no height.
function makeRoom() {
  for (const one of box().querySelectorAll(".more")) {
    const height = one.firstChild.offsetHeight;
    if (height) one.style.blockSize = `${one.dataset.feeds * height}px`;
  }
}

function watch() {
  const seen = new IntersectionObserver(
    (all) => all.forEach((one) => one.isIntersecting && fill(one.target.closest("details"))),
    { root: box(), rootMargin: "300px" },
  );
  for (const one of box().querySelectorAll(".more")) seen.observe(one);
}

function restorePosition() {
  if (!box().checkVisibility()) return;
  makeRoom();
  box().scrollTop = Number(localStorage.getItem(STORAGE_KEY));
  box().querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
}

const savePosition = () => box().checkVisibility() && localStorage.setItem(STORAGE_KEY, box().scrollTop);

if (sidebar) {
  // A click on the summary: the toggle event would also come for groups that the page opens.
  sidebar.addEventListener("click", (event) => {
    const group = event.target.closest("summary")?.parentElement;
    if (!group) return;
    const name = group.open ? "close" : "open";
    // One after the other: each response sets the cookie that the next request changes.
    const send = () => {
      if (name === "open") fill(group);
      return post(`${base}/sidebar`, { [name]: group.dataset.group }, null, send);
    };
    sending = sending.then(send);
  });
  filter?.addEventListener("input", () => addPart("filter", ({ search }) => search(filter.value.trim())));
  filter?.form.addEventListener("submit", (event) => {
    event.preventDefault();
    sidebar.querySelector("#found a")?.click();
  });
  sidebar.addEventListener("beforetoggle", savePosition);
  sidebar.addEventListener("toggle", restorePosition);
  beforeLeaving(savePosition);
  document.addEventListener("tidings:swapped", ({ detail }) => detail.ids.includes("groups") && (makeRoom(), watch()));
  watch();
  restorePosition();
}
