// Refreshing the feeds of a list: progress in its head, then the new list. Also the number of results of a search.
import { announce, swap } from "./tidings.js";
import { base, pane, post, row } from "./marks.js";
import { refresh as count } from "./counts.js";
import { select } from "./lists.js";

const POLL_MS = 1000;
const MAX_WAIT_MS = 120_000;

const ask = async (path) => (await fetch(path, { headers: { Accept: "application/json" } })).json();

// Replace the list by its current state. The open entry stays selected.
export async function reloadList() {
  const [list, open] = [document.querySelector("#column .list-title a"), pane()?.dataset.entry];
  if (list && document.getElementById("list")) await swap(open ? list.href : location.href, ["list", "head-state"]);
  if (open && row(open)) select(row(open), false);
  count(0);
}

async function refreshFeeds(form) {
  const shown = form.querySelector("progress");
  if (!shown.hidden) return;
  shown.hidden = false;
  const result = await post(form.action, {});
  const end = performance.now() + MAX_WAIT_MS;
  for (let all = 0; result && performance.now() < end; ) {
    const { checking } = await ask(`${base}/counts?checking=1`).catch(() => ({}));
    if (!checking) break;
    shown.max = all ||= checking;
    shown.value = Math.max(0, all - checking);
    await new Promise((done) => setTimeout(done, POLL_MS));
  }
  shown.hidden = true;
  await reloadList();
  announce(result?.notice);
}

document.addEventListener("submit", (event) => {
  if (event.target.id !== "refresh") return;
  event.preventDefault();
  refreshFeeds(event.target);
});
const total = document.querySelector("[data-total]");
if (total) ask(total.dataset.total).then(({ text }) => (total.textContent = text), () => {});
