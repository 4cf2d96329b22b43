// Chapters and transcripts: loaded when they are opened; a click seeks, and the current line is marked.
import { find, findAll, words } from "./page.js";
import { isExpired, load, offer } from "./tidings.js";
import { pane } from "./marks.js";
import { seek, takeChapters } from "./player.js";

// Times as show notes write them: 4:05, 1:02:33.
const TIME = /(?<![\d:])(?:(\d{1,2}):)?([0-5]?\d):([0-5]\d)(?![\d:])/g;
// One time alone is more often an hour of the day.
const MIN_TIMES = 2;

async function fill(details) {
  const link = details.open && details.querySelector?.("a[data-part]");
  if (!link) return;
  const { page, url } = await load(link.href).catch(() => ({}));
  const part = page?.getElementById("part");
  if (part) {
    part.removeAttribute("id");
    link.replaceWith(document.adoptNode(part));
    takeChapters();
  } else if (!url || !isExpired(url)) {
    details.open = false;
    offer(words.offline, words.retry, () => (details.open = true));
  }
}
document.addEventListener("toggle", ({ target }) => fill(target), true);
// Opened before this script was loaded.
findAll("details[open]:has(> [data-part])").forEach(fill);

document.addEventListener("click", (event) => {
  const at = event.target.closest?.("#pane :is(.timed, .content) [data-at]")?.dataset.at;
  const media = find("#pane .player :is(audio, video)");
  if (!at || !media || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  seek(media, Number(at));
  media.play().catch(() => {});
});

// Times in the text of an episode lead to their place in it.
function linkTimes() {
  const content = find("#pane:has(.player) .content:not([data-timed])");
  if (!content) return;
  content.dataset.timed = "";
  const walker = document.createTreeWalker(content, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) {
    const text = walker.currentNode;
    if (!text.parentElement.closest("a, pre, code"))
      found.push(...[...text.data.matchAll(TIME)].map((one) => [text, one]));
  }
  if (found.length < MIN_TIMES) return;
  // The last first: what is before a time keeps its place.
  for (const [text, time] of found.toReversed()) {
    const [written, hours, minutes, seconds] = time;
    const at = (hours ?? 0) * 3600 + minutes * 60 + Number(seconds);
    const link = document.createElement("a");
    Object.assign(link, { href: `?t=${at}`, textContent: written });
    link.dataset.at = at;
    const rest = text.splitText(time.index);
    rest.data = rest.data.slice(written.length);
    rest.before(link);
  }
}
linkTimes();
document.addEventListener("tidings:swapped", linkTimes);

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
