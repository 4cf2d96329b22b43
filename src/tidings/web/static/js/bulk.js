// Marking a whole list, or a part of it, read at once, undoing that, saving, and showing what was hidden; loaded when it is
// asked for.
import { base, byId, find, findAll, words } from "./page.js";
import { announce, load, offer, swap } from "./tidings.js";
import { refresh } from "./counts.js";
import { OTHER, changes, isUnread, mark, pane, post, row, show } from "./marks.js";

const BUSY_MS = 700;
const DAY_MS = 864e5;

// Changes that may take seconds (a hundred thousand entries): shown at once, with a notice when they do take long.
async function postWithNotice(ids, name, url, fields, again) {
  for (const id of ids) show(id, name);
  const waiting = setTimeout(() => announce(words.busy), BUSY_MS);
  const result = await post(url, fields, null, again);
  clearTimeout(waiting);
  if (!result) for (const id of ids) show(id, OTHER[name]);
  return result;
}

// Mark the whole list read, or the entries above or below one: what the list has shown, which is all up to the newest
// entry when it was built, and the rows that came since.
export async function markList(url, part, form) {
  const rows = findAll("#list .row");
  const newest = byId("list")?.dataset.newest ?? form.newest.value;
  const later = rows.map((one) => one.id.slice(1)).filter((id) => +id > newest);
  const at = rows.indexOf(row(part.above ?? part.below));
  const before = part.older && new Date(Date.now() - part.older * DAY_MS).toISOString();
  const isMeant = (one, i) => (before ? one.querySelector("time").dateTime < before : part.above ? i < at : i > at);
  const ids = rows.filter((one, i) => isUnread(one) && isMeant(one, i)).map((one) => one.id.slice(1));
  const result = await postWithNotice(ids, "read", url, { ...part, newest, later }, () => markList(url, part, form));
  if (!result) return;
  const isWhole = !part.above && !part.below;
  if (isWhole && !pane()) await swap(result.to, ["list"]);
  if (result.undo) {
    changes.push({ moment: result.undo, ids, later: [] });
    offer(result.notice, words.undo, undo);
  } else announce(result.notice);
  if (isWhole && pane()) await offerNext(result.to);
  refresh();
}

// Add the buttons "above" and "below" to a row, instead of a hundred times in the page.
export function addButtons(one) {
  const actions = one.querySelector(".row-actions");
  const url = byId("column").dataset.mark;
  if (!actions || actions.querySelector("[type=button]")) return;
  for (const name of ["above", "below"]) {
    const button = actions.firstElementChild.cloneNode(true);
    button.type = "button";
    button.name = "";
    button.title = words[name];
    button.querySelector("use").setAttribute("href", `#i-${name}`);
    button.onclick = () => markList(url, { [name]: button.value });
    actions.append(button);
  }
}

// Beside an open article the list stays: the notice says where to go on.
async function offerNext(url) {
  const notice = byId("notice").firstChild;
  const { page } = await load(url).catch(() => ({}));
  const next = page?.querySelector("#list .go-on");
  if (!next || notice !== byId("notice").firstChild) return;
  next.className = "";
  byId("notice").append(" ", document.adoptNode(next));
}

// Take back the last change that was made in this page, or the one that the notice of this page offers to take back.
export async function undo() {
  const change = changes.pop();
  if (change?.name) return mark(OTHER[change.name], change.ids, true);
  const offered = find("#notice [name=moment]");
  if (!change && offered) return offered.click();
  const { moment, ids, later } = change ?? { moment: 0, ids: [], later: [] };
  const fields = [
    ["moment", moment],
    ...ids.map((id) => ["shown", id]),
    ...ids.filter((id) => later.includes(id)).map((id) => ["later", id]),
  ];
  const result = await postWithNotice(
    ids,
    "unread",
    `${base}/entries/undo`,
    fields,
    () => (changes.push(change), undo()),
  );
  if (!result) return;
  // What was changed elsewhere since has stayed as it is.
  for (const id of ids) if (!result.entries?.includes(+id)) show(id, "read");
  if (!pane() && byId("column") && !ids.every(row)) await swap(location.href, ["list"]);
  if (!find("#list .row")) await swap(location.href, ["list"]);
  announce(result.notice);
  refresh();
}

export async function save(id) {
  announce((await post(`${base}/entries/marks`, { save: id }, null, () => save(id)))?.notice);
}

// Show entries in the global lists again that a rule has hidden.
export async function showAgain(id) {
  const result = await post(`${base}/entries/marks`, { show: id }, null, () => showAgain(id));
  if (!result) return;
  for (const one of findAll(`[data-hidden="${id}"], button[name=show][value="${id}"]`)) one.remove();
  announce(result.notice);
  refresh();
}
