// Parts that most pages do not need at first: each is loaded when the page has something for it, or for the first event.
import { base, changed, words } from "./page.js";
import { offer } from "./tidings.js";

// Needed as soon as such an element is on the page.
const ELEMENTS = {
  player: ".player, [data-start]",
  episode: ".timed, [data-part], .player",
  refresh: "[data-total]",
  query: "[data-wrong]",
  feeds: "[data-waiting], #bulk input:checked",
  picking: ".picker",
  above: ".above",
  shortcuts: ".shortcuts",
  settings: "[data-copy], [data-share], [data-copied]:not(.popup *, .sheet *)",
  kept: ".kept",
  labels: ".label-form",
  reach: ".content :is(pre, table)",
  pictures: ".content img, .attached img, .row-picture",
};
const TOUCHES = ["touchstart", "touchmove", "touchend", "touchcancel"];
const loaded = {};

// One that could not be loaded is asked for again the next time. Calls of a part keep their order.
function load(name) {
  loaded[name] ??= import(`./${name}.js`).catch((error) => {
    delete loaded[name];
    throw error;
  });
  return loaded[name];
}

// Call act() with what a part exports. Without a connection, says so.
export function withPart(name, act) {
  return load(name).then(act, () => offer(words.offline, words.retry, () => withPart(name, act)));
}

// The same where nobody waits for it: what it adds is left out without a connection.
export const addPart = (name, act) => load(name).then(act, () => {});

function addNeeded(event) {
  for (const [name, selector] of Object.entries(ELEMENTS)) if (changed(event).querySelector(selector)) addPart(name);
}
addNeeded();
document.addEventListener("tidings:swapped", addNeeded);
// What the page before was playing.
if (sessionStorage.getItem(`tidings:playing${base}`)) addPart("player");

for (const name of TOUCHES)
  addEventListener(name, (event) => addPart("touch", (touch) => touch[name](event)), { passive: true });
// Before it is pressed: some browsers let a script copy only while the button's event is handled.
document.addEventListener("toggle", ({ target }) => target.querySelector("[data-copied]") && addPart("settings"), {
  capture: true,
});
addEventListener("dragstart", (event) => {
  if (event.target.closest?.("#groups, .row")) addPart("drag", ({ dragstart }) => dragstart(event));
});
document.addEventListener("submit", (event) => {
  if (event.target.id !== "refresh") return;
  event.preventDefault();
  withPart("refresh", ({ refreshFeeds }) => refreshFeeds(event.target.action));
});
document.addEventListener("click", ({ target, shiftKey }) => {
  if (!target.matches?.("#bulk :is([name=feed], [data-all])")) return;
  const { checked } = target;
  withPart("feeds", ({ tick }) => tick(target, checked, shiftKey));
});
