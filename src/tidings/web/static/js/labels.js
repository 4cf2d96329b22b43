// The labels of an entry: typing finds them, and Enter gives the one that begins so, or a new one.
import { byId } from "./page.js";

const FIELD = "new-label";
const MARKS = /\p{M}/gu;
const folded = (text) => text.normalize("NFD").replace(MARKS, "").toLowerCase().trim();
const lines = () => [...byId("entry-labels").querySelectorAll("label.check")];
const nameOf = (line) => line.textContent.trim();

// The label that Enter gives, null for a new one.
function found(typed) {
  const fitting = lines().filter((line) => folded(nameOf(line)).startsWith(typed));
  return fitting.find((line) => folded(nameOf(line)) === typed) ?? fitting[0] ?? null;
}

function filter({ value }) {
  const typed = folded(value);
  for (const line of lines()) line.hidden = !folded(nameOf(line)).includes(typed);
  const note = byId("label-note");
  const line = found(typed);
  const text = line ? note.dataset.add : note.dataset.new;
  note.textContent = typed ? text.replace("{name}", () => (line ? nameOf(line) : value.trim())) : "";
}

document.addEventListener("input", ({ target }) => {
  if (target.id === FIELD) filter(target);
});
document.addEventListener("keydown", (event) => {
  const { target, key, isComposing } = event;
  if (target.id !== FIELD || key !== "Enter" || isComposing || !target.value.trim()) return;
  const line = found(folded(target.value));
  if (!line) return;
  event.preventDefault();
  line.querySelector("input").checked = true;
  target.value = "";
  target.form.requestSubmit();
});
// With a finger, the keyboard of the screen would cover the labels.
const focus = ({ target, newState }) => {
  if (target.id === "entry-labels" && newState === "open" && matchMedia("(hover: hover)").matches) byId(FIELD).focus();
};
document.addEventListener("toggle", focus, true);
