// What keys do; loaded with the first one that is pressed.
import { base, find, findAll, words } from "./page.js";
import { load, offer } from "./tidings.js";
import { refreshFeeds, reloadList } from "./refresh.js";
import { undo } from "./bulk.js";
import { opened, pane, row, save, toggle } from "./marks.js";
import { chosen, more, select } from "./lists.js";
import { isSplit, open } from "./split_view.js";

const current = () => pane()?.dataset.entry ?? chosen()?.id.slice(1);
const feedId = () => pane()?.dataset.feed ?? chosen()?.dataset.feed ?? find("#column")?.dataset.feed;
const link = (name) => find(`#pane .tools .${name}`)?.href ?? chosen()?.dataset[name === "original" ? "url" : name];

async function step(by) {
  const rows = findAll(isSplit() ? "#column .row" : "#column:not(.beside) .row");
  if (pane() && !(isSplit() && rows.length))
    return find(`#pane .tools [rel=${by > 0 ? "next" : "prev"}][href]`)?.click();
  const at = rows.indexOf(chosen() ?? row(current()));
  const next = rows[at < 0 ? 0 : at + by];
  if (!next && by > 0) return rows.length && (await more()) && step(by);
  if (!next) return find("#pane .tools [rel=prev][href]")?.click();
  select(next);
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
  const target = isThere ? pane() : box.querySelector("audio, video, a");
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

// By key; "g u" is u after g. keys.js has the same ones.
const ACTIONS = {
  j: () => step(1),
  n: () => step(1),
  k: () => step(-1),
  p: () => step(-1),
  o: () => chosen()?.querySelector(".row-title a").click(),
  v: () => openLink(link("original"), false, true),
  V: () => openLink(link("original"), true, true),
  c: () => openLink(link("comments")),
  C: () => openLink(link("comments"), true),
  m: () => toggle(current(), "read", "unread"),
  M: () => (toggle(current(), "read", "unread"), step(-1)),
  A: () => submit("#mark-all"),
  f: () => toggle(current(), "star", "unstar"),
  s: () => current() && save(current()),
  d: () => submit("#full"),
  a: attachments,
  w: changeWidth,
  P: () => find("#playing [data-play]")?.click(),
  F: () => feedId() && go(`/feeds/${feedId()}`),
  J: () => stepFeed(1),
  K: () => stepFeed(-1),
  G: () => selectEnd(-1),
  "#": unsubscribe,
  z: undo,
  r: () => (find("#refresh") ? refreshFeeds(find("#refresh").action) : reloadList()),
  R: () => refreshFeeds(`${base}/feeds/refresh`),
  "+": () => go("/feeds/add"),
  "?": help,
  ArrowLeft: () => step(-1),
  ArrowRight: () => step(1),
  "g u": () => go("/unread"),
  "g b": () => go("/starred"),
  "g h": () => go("/history"),
  "g f": () => go("/feeds"),
  "g c": () => go("/categories"),
  "g s": () => go("/settings"),
  "g g": () => selectEnd(0),
};

export const act = (key) => ACTIONS[key]();

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
