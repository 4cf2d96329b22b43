// Rows of conditions: the server builds them again after each change, and says what matches while they are filled in.
import { byId, findAll, words } from "./page.js";
import { isExpired, load, offer, replace } from "./tidings.js";

const PAUSE_MS = 350;
const CONTROLS = "select, textarea, input:not([type=hidden])";
// By the id of a builder: the preview that it waits for, and the one that it will ask for.
const asked = {};
const timers = {};
// Changes of which rows there are come one after the other, since each needs the rows of the one before.
let changes = Promise.resolve();
let changing = 0;

// Post the form of a builder, and return the page that answers, null after the session has ended.
async function post(builder, edit, signal) {
  const body = new URLSearchParams(new FormData(builder.closest("form")));
  body.set("edit", edit);
  const options = { method: "POST", body, signal, headers: { "Tidings-Part": "main" } };
  const { page, url } = await load(builder.dataset.path, options);
  return isExpired(url) ? null : page;
}

// What matches now, and what is wrong in the rows.
async function preview(id) {
  clearTimeout(timers[id]);
  asked[id]?.abort();
  if (changing) return;
  const builder = byId(id);
  const { signal } = (asked[id] = new AbortController());
  const page = await post(builder, `${builder.dataset.edit}-preview`, signal).catch(() => null);
  if (!page || signal.aborted) return;
  replace(page, [`matches-${builder.dataset.edit}`]);
  for (const row of builder.querySelectorAll("li:has(> .error)")) {
    const told = row.querySelector(".error");
    const value = row.querySelector("[name$=_value]");
    const now = page.getElementById(told.id);
    if (!now) continue;
    // What is being typed may still become right; what is right now is told at once. A value that was typed before the
    // rows were built again does not change when it is left.
    if (value === document.activeElement && !now.hidden) {
      value.addEventListener("blur", () => later(id), { once: true });
      continue;
    }
    told.textContent = now.textContent;
    told.hidden = now.hidden;
    value.ariaInvalid = now.hidden ? null : "true";
  }
}

function later(id) {
  clearTimeout(timers[id]);
  timers[id] = setTimeout(preview, PAUSE_MS, id);
}

const valuesOf = (builder) => new Map([...builder.querySelectorAll(CONTROLS)].map((one) => [one.id, one.value]));

// Show the rows after a change, with what was typed while the server answered.
async function rebuild(id, edit) {
  const builder = byId(id);
  const before = valuesOf(builder);
  asked[id]?.abort();
  const page = await post(builder, edit);
  if (!page) return;
  const typed = [...valuesOf(builder)].filter(([name, value]) => name && before.get(name) !== value);
  const here = document.activeElement;
  replace(page, [id]);
  const built = byId(id);
  for (const [name, value] of edit.includes("-remove-") ? [] : typed) if (byId(name)) byId(name).value = value;
  // Still what was typed here, and is not stored (`isChanged` in tidings.js).
  for (const one of built.querySelectorAll("input[name$=_value]")) {
    const { value } = one;
    one.defaultValue = "";
    one.value = value;
  }
  const next = built.querySelector("[autofocus]") ?? byId(here.id) ?? built.querySelector(CONTROLS);
  if (builder.contains(here)) next.focus();
  if (typed.length) later(id);
}

function change({ id }, edit) {
  changing++;
  changes = changes
    .then(() => rebuild(id, edit))
    .catch(() => offer(words.offline, words.retry, () => change({ id }, edit)))
    .finally(() => changing--);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest?.(".conditions [name=edit]");
  if (!button) return;
  event.preventDefault();
  change(button.closest(".conditions"), button.value);
});
document.addEventListener("input", ({ target }) => {
  const builder = target.closest?.(".conditions");
  if (builder && !target.matches("select, [type=radio]")) later(builder.id);
});
document.addEventListener("change", ({ target }) => {
  const builder = target.closest?.(".conditions");
  if (builder && target.matches(".field-of, .how-of")) change(builder, `${builder.dataset.edit}-preview`);
  // A field is left by pressing a button, which must not move before it is released.
  else if (builder) later(builder.id);
  else if (target.matches("[name=where]")) for (const one of findAll(".conditions")) preview(one.id);
});
// Those that are not folded.
for (const one of findAll(".conditions:has(.matches:empty)")) if (one.checkVisibility()) preview(one.id);
