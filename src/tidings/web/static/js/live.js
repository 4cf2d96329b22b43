// Changes as they happen: counts, and a button for what is new in the list. One page of the browser holds the connection
// and tells the others, with a lock that passes on when it is closed. Where browsers have no locks (plain http), each
// visible page holds its own. Where events do not arrive, pages ask for counts as often as they did before.
import { base, find, words } from "./page.js";
import { refresh, setInterval, show } from "./counts.js";
import { scroller } from "./lists.js";
import { reloadList } from "./refresh.js";

const NAME = `tidings:live${base}:${words.user}`;
const [INTERVAL_MS, LIVE_INTERVAL_MS] = [60_000, 600_000];
// Between two requests for counts because of events.
const GAP_MS = 3_000;
// How long a hidden page waits for a visible one to ask.
const HIDDEN_MS = 5_000;
// A proxy that keeps back what it should pass on shows nothing for longer than this.
const SILENCE_MS = 20_000;
const AGAIN_MS = 60_000;
let channel, source, timer, waiting, release;
let isReady = false;
let last = "";
let counted = -GAP_MS;

// Hear of events, and get them for all pages of the browser if no other page does.
export function join() {
  if (channel) return;
  paint();
  channel = new BroadcastChannel(NAME);
  channel.onmessage = ({ data }) =>
    data.isNew ? isReady && tell({ lastEventId: last }, { isLive: true }) : hear(data);
  channel.postMessage({ isNew: true });
  if (navigator.locks) {
    waiting = new AbortController();
    const hold = () => new Promise((done) => ((release = done), open()));
    navigator.locks.request(NAME, { signal: waiting.signal }, hold).catch(() => {});
  } else if (!document.hidden) open();
}

function leave() {
  close();
  waiting?.abort();
  release?.();
  channel?.close();
  channel = release = null;
}

function open() {
  close();
  source = new EventSource(`${base}/events?since=${encodeURIComponent(last)}`);
  timer = setTimeout(fail, SILENCE_MS);
  source.addEventListener("ready", (event) => {
    clearTimeout(timer);
    isReady = true;
    tell(event, { isLive: true });
  });
  source.addEventListener("changes", (event) => tell(event, { changes: JSON.parse(event.data) }));
  source.addEventListener("reset", (event) => tell(event, { changes: { entries: { new: 1 } } }));
  // Browsers connect again by themselves unless the answer was an error.
  source.onerror = () => source?.readyState === 2 && fail();
}

function close() {
  clearTimeout(timer);
  source?.close();
  source = null;
  isReady = false;
}

function fail() {
  close();
  tell({ lastEventId: "" }, { isLive: false });
  timer = setTimeout(open, AGAIN_MS);
}

function tell({ lastEventId }, told) {
  const all = { ...told, last: lastEventId };
  hear(all);
  channel?.postMessage(all);
}

function hear({ isLive, changes, counts, last: id }) {
  if (id !== undefined) last = id;
  if (isLive !== undefined) setInterval(isLive ? LIVE_INTERVAL_MS : INTERVAL_MS);
  if (counts) {
    counted = performance.now();
    show(counts);
    paint();
  }
  if (!changes) return;
  const now = performance.now();
  if (!document.hidden) refresh(Math.max(250, counted + GAP_MS - now));
  // Where nobody sees a page, the titles of tabs are seen: one page asks for all.
  else if (source) setTimeout(() => counted < now && refresh(0), HIDDEN_MS);
  if (changes.entries?.new) look();
}

let isLooking = false;

// Offer what is new in the list. It stays as it is until the user asks: nothing moves under a finger.
async function look() {
  const [list, link] = [find("#list[data-newest]"), find("#column .list-title a")];
  if (!list || !link || isLooking || document.hidden) return;
  isLooking = true;
  try {
    const headers = { Accept: "application/json", "Tidings-Newer": list.dataset.newest };
    const { text } = await (await fetch(link.href, { headers })).json();
    if (list.isConnected) offerNews(text);
  } catch {
    // Offline, or signed out: the next event will do.
  }
  isLooking = false;
}

// Screen readers hear of the first news, and not of each that follows.
function offerNews(text) {
  let holder = find("#news");
  if (!holder) {
    holder = document.createElement("span");
    holder.id = "news";
    holder.role = "status";
    find("#column .list-title").after(holder);
  } else if (holder.firstChild) holder.ariaLive = "off";
  const button = holder.firstChild ?? document.createElement("button");
  button.className = "tool is-on";
  button.type = "button";
  button.onclick = showNews;
  if (button.textContent !== text) button.textContent = text;
  if (!text) holder.replaceChildren();
  else if (!holder.firstChild) holder.append(button);
}

async function showNews() {
  await reloadList();
  scroller().scrollTo({ top: 0 });
  find("#column .row-title a")?.focus({ preventScroll: true });
}

// The number of unread entries in the icon of the tab.
const icon = find("link[rel=icon]");
const plain = icon.href;
function paint() {
  const shown = find("#sidebar [data-count=unread]:not([hidden])");
  const count = Number(shown?.textContent.replace(/\D/g, ""));
  const badge = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect width="64" height="64" rx="14" fill="#b4441f"/><text x="32" y="45" font-family="system-ui,sans-serif" font-size="${count > 99 ? 28 : 36}" font-weight="700" text-anchor="middle" fill="#fbfaf7">${count > 99 ? "99+" : count}</text></svg>`;
  icon.href = count ? `data:image/svg+xml,${encodeURIComponent(badge)}` : plain;
}

document.addEventListener("tidings:counted", ({ detail }) => {
  paint();
  counted = performance.now();
  channel?.postMessage({ counts: detail });
});
document.addEventListener("tidings:swapped", ({ detail }) => detail.ids.includes("list") && find("#news")?.remove());
document.addEventListener("visibilitychange", () => {
  if (navigator.locks) return document.hidden || look();
  if (document.hidden) close();
  else open();
});
// The browser keeps no page in memory that holds a connection.
addEventListener("pagehide", leave);
addEventListener("pageshow", (event) => event.persisted && join());
