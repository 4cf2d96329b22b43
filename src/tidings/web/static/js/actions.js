// What keys do; loaded with the first one that is pressed.
import { base, find, findAll, words } from "./page.js";
import { load, offer } from "./tidings.js";
import { refreshFeeds, reloadList } from "./refresh.js";
import { save, undo } from "./bulk.js";
import { before } from "./above.js";
import { opened, pane, row, toggle } from "./marks.js";
import { LINE_PX, chosen as focused, isStream, more, select } from "./lists.js";
import { isSplit, open } from "./split_view.js";
import { withPart } from "./parts.js";

const isSeen = (one) => {
  const { top, bottom } = one.getBoundingClientRect();
  return bottom > LINE_PX && top < innerHeight - LINE_PX;
};

// The row that keys act on. Of whole articles, the one that is being read.
function chosen() {
  const one = focused();
  if (!isStream || pane() || (one && isSeen(one))) return one;
  return scrollY ? findAll("#column .row").find(isSeen) : null;
}

// The article that keys act on. While that of another row is on its way, they act on the row.
const article = () => (find("#pane[aria-busy]") && chosen() ? null : pane());
const current = () => article()?.dataset.entry ?? chosen()?.id.slice(1);
const feedId = () => article()?.dataset.feed ?? chosen()?.dataset.feed ?? find("#column")?.dataset.feed;
const link = (name) =>
  article()?.querySelector(`.tools .${name}`)?.href ?? chosen()?.dataset[name === "original" ? "url" : name];

// The row after one, or before it; between rows are the heads of days, and parts of the list begin.
function neighbour(one, by) {
  const [side, end] =
    by > 0 ? ["nextElementSibling", "firstElementChild"] : ["previousElementSibling", "lastElementChild"];
  do one = one[side] ?? one.parentElement[side]?.[end];
  while (one && !one.matches(".row"));
  return one;
}

async function step(by) {
  const first = find(isSplit() ? "#column .row" : "#column:not(.beside) .row");
  if (!first && !pane() && by > 0) return find("#list .go-on")?.click();
  if (pane() && !(isSplit() && first)) return find(`#pane .tools [rel=${by > 0 ? "next" : "prev"}][href]`)?.click();
  const at = chosen() ?? row(current());
  const next = first && at ? neighbour(at, by) : first;
  if (!next && first && (await (by > 0 ? more() : before()))) return step(by);
  if (!next && by > 0) return;
  if (!next) return find("#pane .tools [rel=prev][href]")?.click();
  select(next);
  if (isStream) next.scrollIntoView({ block: "start" });
  if (isSplit() && !next.querySelector(".row-title a[rel~=external]")) open(next.querySelector(".row-title a").href);
}

function openLink(url, isHere, isRead) {
  if (!url) return;
  if (isRead) opened(row(current()));
  if (isHere) location.assign(url);
  else window.open(url, "_blank", "noopener");
}

const go = (path) => location.assign(base + path);
const submit = (selector) => find(selector)?.requestSubmit(find(`${selector} button`));

// The next line of the sidebar with unread entries: a feed, or a category whose feeds are not shown.
function stepFeed(by) {
  const lines = findAll("#sidebar .group a.line").filter(
    (line) =>
      !line.closest(".more, details:not([open])") &&
      (line.ariaCurrent || !(line.matches(".no-unread") || line.parentElement.querySelector("details[open]"))),
  );
  const at = lines.findIndex((line) => line.ariaCurrent);
  lines.at(at < 0 && by < 0 ? -1 : at + by < 0 ? lines.length : at + by)?.click();
}

function labels() {
  // The part gives the focus to the field.
  if (article()) withPart("labels", () => find("#pane [popovertarget=entry-labels]")?.click());
  else if (chosen()) withPart("held", (held) => held.open(chosen()));
}

// Deleting a feed cannot be undone: the next page asks for confirmation.
function unsubscribe() {
  if (!feedId()) return;
  const form = document.createElement("form");
  Object.assign(form, { method: "post", action: `${base}/feeds/bulk`, hidden: true });
  const fields = { csrf: find("input[name=csrf]").value, action: "delete", feed: feedId() };
  form.append(
    ...Object.entries(fields).map(([name, value]) => Object.assign(document.createElement("input"), { name, value })),
  );
  document.body.append(form);
  form.submit();
}

// Focus the attachments, and from there the beginning of the article.
function attachments() {
  const box = find("#pane :is(.players, .attached)");
  if (!box) return;
  const isThere = box.contains(document.activeElement);
  const target = isThere ? pane() : (box.querySelector(".play, .start") ?? box.querySelector("audio, video, a"));
  target.focus({ preventScroll: true });
  if (isThere && isSplit()) target.scrollTo(0, 0);
  else target.scrollIntoView({ block: isThere ? "start" : "center" });
}

function changeWidth() {
  const widths = findAll("#appearance [name=measure]");
  widths[(widths.findIndex((one) => one.checked) + 1) % widths.length]?.click();
}

function selectEnd(at) {
  const one = findAll("#column .row").at(at);
  if (one?.checkVisibility()) select(one);
}

// By command (`domain/accounts/shortcuts.py`).
const ACTIONS = {
  unread: () => go("/unread"),
  starred: () => go("/starred"),
  history: () => go("/history"),
  feeds: () => go("/feeds"),
  categories: () => go("/categories"),
  settings: () => go("/settings"),
  add_feed: () => go("/feeds/add"),
  next: () => step(1),
  previous: () => step(-1),
  open: () => chosen()?.querySelector(".row-title a").click(),
  original: () => openLink(link("original"), false, true),
  original_here: () => openLink(link("original"), true, true),
  comments: () => openLink(link("comments")),
  comments_here: () => openLink(link("comments"), true),
  toggle_read: () => toggle(current(), "read", "unread"),
  toggle_read_and_go_back: () => (toggle(current(), "read", "unread"), step(-1)),
  star: () => toggle(current(), "star", "unstar"),
  save: () => current() && save(current()),
  labels,
  share: () => submit("#share"),
  full_article: () => submit("#full"),
  attachments,
  player: () => find("#playing [data-play]")?.click(),
  feed: () => feedId() && go(`/feeds/${feedId()}`),
  line_length: changeWidth,
  first: () => selectEnd(0),
  last: () => selectEnd(-1),
  next_feed: () => stepFeed(1),
  previous_feed: () => stepFeed(-1),
  unsubscribe,
  mark_all: () => submit("#mark-all"),
  undo,
  refresh: () => (find("#refresh") ? refreshFeeds(find("#refresh").action) : reloadList()),
  refresh_all: () => refreshFeeds(`${base}/feeds/refresh`),
  help,
};

export const act = (command) => ACTIONS[command]();

export async function help() {
  const shown = find("#keys");
  if (shown) return shown.close();
  const { page } = await load(`${base}/keys`).catch(() => ({}));
  if (!page) return offer(words.offline, words.retry, help);
  const dialog = document.createElement("dialog");
  dialog.id = "keys";
  dialog.append(page.querySelector(".inner"));
  dialog.ariaLabel = dialog.querySelector("h1").textContent;
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  document.body.append(dialog);
  dialog.showModal();
}
