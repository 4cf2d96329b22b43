// Refreshing the feeds of a list: progress in its head, then the new list. Also the number of results of a search.
import { base, byId, find, getJson, words } from "./page.js";
import { announce, offer, swap } from "./tidings.js";
import { pane, post, row } from "./marks.js";
import { refresh as count } from "./counts.js";
import { select } from "./lists.js";

const POLL_MS = 1000;
// As long as a check of a feed may take: what is still waiting then belongs to a host that is slow or has a pause.
const MAX_STANDSTILL_MS = 20_000;

// Replace the list by its current state. The open entry stays selected.
export async function reloadList() {
  const [list, open] = [find("#column .list-title a"), pane()?.dataset.entry];
  const isList = list && byId("list");
  if (isList && (await swap(open ? list.href : location.href, ["list", "head-state"])) === null) {
    return offer(words.offline, words.retry, reloadList);
  }
  if (open && row(open)) select(row(open), false);
  count(0);
}

// Check feeds, show the progress in the head of the list, and then the new list. url: of one feed, which is checked
// before the answer, of a category, or of all feeds.
export async function refreshFeeds(url) {
  const shown = find("#refresh progress") ?? document.createElement("progress");
  if (shown.ariaBusy) return;
  shown.ariaBusy = "true";
  shown.hidden = false;
  const result = await post(url, {});
  if (result && !/\/feeds\/\d+\/refresh$/.test(url))
    await untilChecked(shown, /\/categories\/(\d+)\//.exec(url)?.[1] ?? "");
  shown.hidden = true;
  shown.ariaBusy = null;
  await reloadList();
  announce(result?.notice);
}

async function untilChecked(shown, category) {
  let [all, left, changed] = [0, 0, performance.now()];
  while (performance.now() - changed < MAX_STANDSTILL_MS) {
    const { checking } = await getJson(`${base}/counts?checking=1&category=${category}`).catch(() => ({}));
    if (!checking) return;
    if (checking !== left) changed = performance.now();
    left = checking;
    shown.max = all ||= checking;
    shown.value = Math.max(0, all - checking);
    await new Promise((done) => setTimeout(done, POLL_MS));
  }
}

const total = find("[data-total]");
if (total)
  getJson(total.dataset.total).then(
    ({ text }) => (total.textContent = text),
    () => {},
  );
