// Marks and stars are seen at once; the server hears of them meanwhile. What it refuses is taken back.
import { announce, swap, tell } from "./tidings.js";
import { refresh } from "./counts.js";

export const words = document.getElementById("words").dataset;
const OTHER = { star: "unstar", unstar: "star", read: "unread", unread: "read" };
const BUSY_MS = 700;
const ICONS = { unstar: "starred" };
const token = () => document.querySelector("input[name=csrf]").value;
// What `z` takes back, and which entries that were.
let last = null;

export const base = words.base;
export const row = (id) => document.getElementById(`e${id}`);
export const pane = () => document.querySelector("#pane[data-entry]");
export const isUnread = (one) => one.classList.contains("unread");

// What the server told: { to, notice, undo }; null when it did not do it.
export async function post(url, fields) {
  const body = new URLSearchParams(fields);
  body.set("csrf", token());
  body.set("back", (location.pathname + location.search).slice(base.length));
  try {
    const answer = await fetch(url, { method: "POST", body, headers: { Accept: "application/json" }, keepalive: true });
    if (answer.ok && answer.headers.get("content-type").startsWith("application/json")) {
      const told = await answer.json();
      if (/\/sign-in(\?|$)/.test(told.to)) location.assign(told.to);
      return told;
    }
    announce(words.failed);
  } catch {
    announce(words.offline);
  }
  return null;
}

// How an entry looks now, wherever it is on the page.
export function show(id, name) {
  const one = row(id);
  if (name === "read" || name === "unread") one?.classList.toggle("unread", name === "unread");
  else one?.classList.toggle("starred", name === "star");
  for (const button of document.querySelectorAll(`button[name="${name}"][value="${id}"]`)) {
    const next = OTHER[name];
    button.name = next;
    button.title = words[next];
    button.classList.toggle("is-on", next === "unstar");
    const use = button.querySelector("use");
    use.setAttribute("href", use.getAttribute("href").replace(/#.*/, `#${ICONS[next] ?? next}`));
    const label = button.querySelector("span");
    if (label) label.textContent = next === "unstar" ? words.starred : words[next];
  }
}

// name: star, unstar, read or unread, of one entry or of many.
export async function mark(name, ids) {
  if (!ids.length) return;
  for (const id of ids) show(id, name);
  const told = await post(`${base}/entries/marks`, ids.map((id) => [name, id]));
  if (!told) for (const id of ids) show(id, OTHER[name]);
  else if (told.undo) last = { moment: told.undo, ids };
  refresh();
}

export const toggle = (id, ...names) => {
  const button = document.querySelector(names.map((name) => `button[name="${name}"][value="${id}"]`).join());
  if (button) mark(button.name, [id]);
};

export async function save(id) {
  announce((await post(`${base}/entries/marks`, { save: id }))?.notice);
}

// What may take seconds, with a hundred thousand entries: seen at once, and told when it does.
async function slowly(ids, name, url, fields) {
  for (const id of ids) show(id, name);
  const waiting = setTimeout(() => announce(words.busy), BUSY_MS);
  const told = await post(url, fields);
  clearTimeout(waiting);
  if (!told) for (const id of ids) show(id, OTHER[name]);
  return told;
}

// All of the list, or what lies above or below an entry.
export async function markList(url, part = {}) {
  const rows = [...document.querySelectorAll("#list .row")];
  const at = rows.indexOf(row(part.above ?? part.below));
  const ids = rows.filter((one, i) => isUnread(one) && (part.above ? i < at : i > at)).map((one) => one.id.slice(1));
  const told = await slowly(ids, "read", url, part);
  if (!told) return;
  if (!part.above && !part.below && !pane()) await swap(told.to, ["list"]);
  if (told.undo) last = { moment: told.undo, ids };
  tell(told.undo ? [`${told.notice} `, undoButton()] : [told.notice]);
  refresh();
}

export async function undo() {
  if (!last) return;
  const { moment, ids } = last;
  last = null;
  const told = await slowly(ids, "unread", `${base}/entries/undo`, { moment });
  if (!told) return;
  if (!pane() && document.getElementById("column") && !ids.every(row)) await swap(location.href, ["list"]);
  if (!document.querySelector("#list .row")) await swap(location.href, ["list"]);
  announce(told.notice);
  refresh();
}

function undoButton() {
  const button = document.createElement("button");
  button.textContent = words.undo;
  button.onclick = undo;
  return button;
}

document.addEventListener("submit", (event) => {
  const { target: form, submitter: button } = event;
  // A field called action hides the address of its form.
  const path = new URL(form.getAttribute("action") ?? "", location.href).pathname;
  const [name, value] = [button?.name, button?.value];
  if (path.endsWith("/entries/marks") && name) {
    event.preventDefault();
    if (name === "save") save(value);
    else mark(name, [value]);
  } else if (path.endsWith("/mark-read")) {
    event.preventDefault();
    button.closest("[popover]")?.hidePopover();
    markList(form.action, name ? { [name]: value } : {});
  }
});

// Where the original is opened from a list, nobody else notices that it was.
export function opened(one) {
  if (one && isUnread(one) && "viewed" in document.documentElement.dataset) mark("read", [one.id.slice(1)]);
}

document.addEventListener("click", (event) => opened(event.target.closest?.(".row-title a[rel~=external]")?.closest(".row")));

// More for a row than its buttons, once a pointer is there: no page carries them a hundred times.
document.addEventListener("pointerover", (event) => {
  const acts = event.target.closest?.(".row")?.querySelector(".row-acts");
  const url = document.getElementById("column")?.dataset.mark;
  if (!acts || !url || acts.children.length > 2) return;
  for (const name of ["above", "below"]) {
    const button = acts.lastElementChild.cloneNode(true);
    button.type = "button";
    button.name = "";
    button.title = words[name];
    const use = button.querySelector("use");
    use.setAttribute("href", use.getAttribute("href").replace(/#.*/, `#${name}`));
    button.onclick = () => markList(url, { [name]: button.value });
    acts.append(button);
  }
});
