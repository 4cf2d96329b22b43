// Keyboard shortcuts, at first mostly those of Miniflux. The account chooses them, or switches them off; /keys lists them.
// Here is what cannot wait: whether a key is one of ours, before the browser acts on it, and what moves the focus. What
// the others do is in actions.js and scroll.js.
import { base, find, findAll } from "./page.js";
import { withPart } from "./parts.js";
import { pane, row } from "./marks.js";
import { select } from "./lists.js";
import { isSplit } from "./split_view.js";

const PREFIX_MS = 1500;
// Key and command; "gu" is u after g.
const KEYS = new Map(document.documentElement.dataset.keys?.match(/\S+ \S+/g)?.map((pair) => pair.split(" ")));
const SCROLLS = ["PageUp", "PageDown", "Home", "End"];
let prefix = "";
let prefixUntil = 0;

// Whether a key scrolls the article beside its list, or opens the next one.
function isScroll({ key, shiftKey, target }) {
  const isSpace = key === " ";
  if (!isSplit() || target.closest?.(`audio, video, input, :popover-open${isSpace ? ", button, summary" : ""}`))
    return false;
  return isSpace || (!!pane() && !shiftKey && SCROLLS.includes(key));
}

// What is typed next belongs to the field.
function search() {
  const field = findAll("input:is([name=query], [name=q])").findLast((one) => one.checkVisibility());
  if (!field) return location.assign(`${base}/search`);
  field.focus();
  field.select();
}

function escape() {
  find("#keys")?.close();
  document.activeElement?.blur();
  if (!pane()) return;
  if (!isSplit()) find(".to-list")?.click();
  else if (row(pane().dataset.entry)) select(row(pane().dataset.entry));
}

if (KEYS.size) {
  document.addEventListener("keydown", (event) => {
    const { key, target, timeStamp } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.defaultPrevented) return;
    const isTyping = target.closest?.("input:not([type=radio], [type=checkbox]), textarea, select");
    if (key === "Escape" && (isTyping || !find(":popover-open, dialog[open]"))) return escape();
    if (isTyping || (find("dialog[open]") && KEYS.get(key) !== "help")) return;
    if (isScroll(event)) {
      event.preventDefault();
      return withPart("scroll", ({ scrollArticle }) => scrollArticle(event));
    }
    const command = (timeStamp < prefixUntil && KEYS.get(prefix + key)) || KEYS.get(key);
    // Shift may be pressed between them.
    if (key.length < 2) [prefix, prefixUntil] = [key, command ? 0 : timeStamp + PREFIX_MS];
    // In code or a table that is wider than the article, arrows scroll it; in radio buttons they choose.
    if (!command || (/^Arrow/.test(key) && target.closest?.("pre, table, .choice"))) return;
    event.preventDefault();
    if (command === "search") search();
    else withPart("actions", ({ act }) => act(command));
  });
}
