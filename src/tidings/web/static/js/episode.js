// Chapters and transcripts: loaded when they are opened; a click seeks, and the current line is marked.
import { find, findAll, words } from "./page.js";
import { isExpired, load, offer } from "./tidings.js";
import { pane } from "./marks.js";
import { seek } from "./player.js";

async function fill(details) {
  const link = details.open && details.querySelector?.("a[data-part]");
  if (!link) return;
  const { page, url } = await load(link.href).catch(() => ({}));
  const part = page?.getElementById("part");
  if (part) {
    part.removeAttribute("id");
    link.replaceWith(document.adoptNode(part));
  } else if (!url || !isExpired(url)) {
    details.open = false;
    offer(words.offline, words.retry, () => (details.open = true));
  }
}
document.addEventListener("toggle", ({ target }) => fill(target), true);
// Opened before this script was loaded.
findAll("details[open]:has(> [data-part])").forEach(fill);

document.addEventListener("click", (event) => {
  const at = event.target.closest?.(".timed [data-at]")?.dataset.at;
  const media = find("#pane .player :is(audio, video)");
  if (!at || !media || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  seek(media, Number(at));
  media.play().catch(() => {});
});

document.addEventListener("tidings:playing", ({ detail: { entry, at } }) => {
  if (pane()?.dataset.entry !== entry) return;
  for (const list of findAll("#pane .timed")) {
    const now = [...list.querySelectorAll("[data-at]")].findLast((one) => Number(one.dataset.at) <= at + 0.05);
    const before = list.querySelector("[aria-current]");
    if (now === before) continue;
    before?.removeAttribute("aria-current");
    now?.setAttribute("aria-current", "true");
  }
});
