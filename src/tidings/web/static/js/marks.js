// Marks and stars show at once and are sent in the background. A failed change is reverted. Without a connection or a
// session it is kept in this browser, and sent when there is one again.
import { base, byId, find, findInArticle, words } from "./page.js";
import { announce, beforeLeaving, hasEnded, isExpired, offer } from "./tidings.js";
import { refresh } from "./counts.js";
import { addPart, withPart } from "./parts.js";

export const OTHER = { star: "unstar", unstar: "star", read: "unread", unread: "read" };
const ICONS = { unstar: "starred" };
const token = () => find("input[name=csrf]").value;
// What `z` undoes, the last one first: { name, ids }, or of a whole list { moment, ids, later }, where `later` are the
// entries that have been marked or starred since.
export const changes = [];

export const row = (id) => byId(`e${id}`);
export const pane = () => find("#pane[data-entry]");
export const isUnread = (one) => one.classList.contains("unread");

// Returns the server's { to, notice, undo, entries }, or null when the change failed, after saying so.
// kept: marks, as [name, id], that are kept until they can be sent. Without them Retry calls `again`, which sends the
// fields anew; null: there is nothing to retry, and a lost connection is not mentioned.
export async function post(url, fields, kept, again = () => post(url, fields).then(refresh)) {
  const body = new URLSearchParams(fields);
  body.set("csrf", token());
  body.set("back", (location.pathname + location.search).slice(base.length));
  // The page may be left before the request fails.
  if (kept && !navigator.onLine) keep(kept);
  try {
    const answer = await fetch(url, { method: "POST", body, headers: { Accept: "application/json" }, keepalive: true });
    if (answer.ok && answer.headers.get("content-type").startsWith("application/json")) {
      const result = await answer.json();
      const isLost = again === null ? hasEnded(result.to) : isExpired(result.to);
      if (kept) (isLost ? keep : forget)(kept);
      return isLost ? (kept ? {} : null) : result;
    }
    // What a reverse proxy answers while the service is away.
    if (![502, 503, 504].includes(answer.status)) {
      if (kept) forget(kept);
      announce(words.failed);
      return null;
    }
    throw answer;
  } catch {
    if (kept) keep(kept);
    if (again) offer(kept ? words.kept : words.offline, words.retry, kept ? resend : again);
    return kept ? {} : null;
  }
}

const KEPT = `tidings-marks${base}`;
export const keptMarks = () => JSON.parse(localStorage.getItem(KEPT) ?? "[]");

// A later mark of an entry replaces the earlier one.
function forget(marks) {
  const isReplaced = ([name, id]) => marks.some((one) => one[1] === id && [name, OTHER[name]].includes(one[0]));
  const kept = keptMarks();
  if (kept.length) localStorage.setItem(KEPT, JSON.stringify(kept.filter((one) => !isReplaced(one))));
}

export function keep(marks) {
  forget(marks);
  localStorage.setItem(KEPT, JSON.stringify([...keptMarks(), ...marks]));
}

// Marks of an entry are sent one after the other: the last one counts. By entry, the promise that the next one waits for.
const sending = new Map();
const waiting = new Set();

function send(marks, fields = marks) {
  const now = () => post(`${base}/entries/marks`, fields, marks);
  const before = marks.map(([, id]) => sending.get(id)).filter(Boolean);
  // Without one to wait for, now: the page may be about to be left.
  const sent = before.length ? wait(marks, before).then(now) : now();
  for (const [, id] of marks) sending.set(id, sent);
  return sent;
}

async function wait(marks, before) {
  waiting.add(marks);
  await Promise.all(before);
  waiting.delete(marks);
}
beforeLeaving(() => waiting.forEach(keep));

// Send what was kept. The server ignores entries that are gone, or of another user who used this browser.
async function resend() {
  const marks = keptMarks();
  if (!marks.length) return;
  // It says that there is no connection.
  byId("notice").replaceChildren();
  for (const [name, id] of marks) show(id, name);
  await send(marks);
  refresh();
}

// Show the new state of an entry in all places of the page.
export function show(id, name) {
  const one = row(id);
  if (name === "read" || name === "unread") one?.classList.toggle("unread", name === "unread");
  else one?.classList.toggle("starred", name === "star");
  const button = `button[name="${name}"][value="${id}"]`;
  for (const shown of [...(one?.querySelectorAll(button) ?? []), ...findInArticle(button)]) {
    const next = OTHER[name];
    shown.name = next;
    // In brackets is its key.
    shown.title = shown.title.replace(/^.*?(?= \(|$)/, words[next]);
    shown.classList.toggle("is-on", next === "unstar");
    // In the bar of a phone, word and icon of both states are the same.
    const { ariaPressed } = shown;
    if (ariaPressed) shown.ariaPressed = String(next === "unstar" || next === "read");
    if (!ariaPressed || next !== "read") shown.querySelector("use").setAttribute("href", `#i-${ICONS[next] ?? next}`);
    const label = shown.querySelector("span");
    if (label && !ariaPressed) label.textContent = next === "unstar" ? words.starred : words[next];
  }
}

// name: star, unstar, read or unread. isUndo: this takes back an earlier mark.
export async function mark(name, ids, isUndo) {
  if (!ids.length) return;
  for (const id of ids) show(id, name);
  for (const { later } of changes) later?.push(...ids);
  const change = { name, ids };
  if (!isUndo) changes.push(change);
  const marks = ids.map((id) => [name, id]);
  // Without it, what is kept would be sent after this mark.
  forget(marks);
  const result = await send(marks, isUndo ? [...marks, ["undone", "1"]] : marks);
  if (!result) {
    for (const id of ids) show(id, OTHER[name]);
    if (changes.includes(change)) changes.splice(changes.indexOf(change), 1);
  } else if (isUndo) announce(result.notice);
  refresh();
}

export const toggle = (id, ...names) => {
  const button = (row(id) ?? pane())?.querySelector(
    names.map((name) => `button[name="${name}"][value="${id}"]`).join(),
  );
  if (button) mark(button.name, [id]);
};

addEventListener("online", resend);

// In copies, kept.js shows what was kept.
if (!find(".kept")) resend();

document.addEventListener("submit", (event) => {
  const { target: form, submitter: button } = event;
  // form.action is the field of that name, if the form has one.
  const path = new URL(form.getAttribute("action") ?? "", location.href).pathname;
  const [name, value] = [button?.name, button?.value];
  if (path.endsWith("/entries/marks") && name) {
    event.preventDefault();
    if (name === "save") withPart("bulk", ({ save }) => save(value));
    else if (name === "show") withPart("bulk", ({ showAgain }) => showAgain(value));
    else mark(name, [value]);
  } else if (path.endsWith("/mark-read")) {
    event.preventDefault();
    button.closest("[popover]")?.hidePopover();
    withPart("bulk", ({ markList }) => markList(form.action, name ? { [name]: value } : {}, form));
  }
});

// An original opened from a list: the server does not notice, so the page marks it read.
export function opened(one) {
  if (one && isUnread(one) && "viewed" in document.documentElement.dataset) mark("read", [one.id.slice(1)]);
}

document.addEventListener("click", (event) =>
  opened(event.target.closest?.(".row-title a[rel~=external]")?.closest(".row")),
);

// A row under the pointer gets the buttons "above" and "below".
document.addEventListener("pointerover", ({ target }) => {
  const one = target.closest?.(".row");
  if (one && byId("column")?.dataset.mark) addPart("bulk", ({ addButtons }) => addButtons(one));
});
