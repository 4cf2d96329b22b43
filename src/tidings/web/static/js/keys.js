// Keyboard shortcuts, mostly those of Miniflux; the page /keys lists them. The account can switch them off.
// Here is what cannot wait: whether a key is one of ours, before the browser acts on it, and what moves the focus. What
// the others do is in actions.js and scroll.js.
import { base, find, findAll } from "./page.js";
import { withPart } from "./parts.js";
import { pane, row } from "./marks.js";
import { select } from "./lists.js";
import { isSplit } from "./split_view.js";

const PREFIX_MS = 1500;
const KEYS = new Set([..."jnkpovVcCmMAfsdawPFJKG#zrR+?", "ArrowLeft", "ArrowRight"]);
for (const key of "ubhfcsg") KEYS.add(`g ${key}`);
const SCROLLS = ["PageUp", "PageDown", "Home", "End"];
let prefix = 0;

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

if ("keys" in document.documentElement.dataset) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.defaultPrevented) return;
    const isTyping = event.target.closest?.("input:not([type=radio], [type=checkbox]), textarea, select");
    if (event.key === "Escape" && (isTyping || !find(":popover-open, dialog[open]"))) return escape();
    if (isTyping || (find("dialog[open]") && event.key !== "?")) return;
    if (isScroll(event)) {
      event.preventDefault();
      return withPart("scroll", ({ scrollArticle }) => scrollArticle(event));
    }
    const wasPrefix = event.timeStamp < prefix;
    prefix = event.key === "g" && !wasPrefix ? event.timeStamp + PREFIX_MS : 0;
    const afterG = `g ${event.key}`;
    const key = wasPrefix && KEYS.has(afterG) ? afterG : event.key;
    // In code or a table that is wider than the article, they scroll it.
    if (!(key === "/" || KEYS.has(key)) || (event.key.startsWith("Arrow") && event.target.closest?.("pre, table")))
      return;
    event.preventDefault();
    if (key === "/") search();
    else withPart("actions", ({ act }) => act(key));
  });
}
