// The labels of an entry: typing finds them, and Enter gives the one that begins so, or a new one.
const MARKS = /\p{M}/gu;
const folded = (text) => text.normalize("NFD").replace(MARKS, "").toLowerCase().trim();
const isField = (target) => target.matches?.(".label-form [name=new]");
const linesOf = (form) => [...form.querySelectorAll("label.check")];
const nameOf = (line) => line.textContent.trim();

// The label that Enter gives, null for a new one.
function found(form, typed) {
  const fitting = linesOf(form).filter((line) => folded(nameOf(line)).startsWith(typed));
  return fitting.find((line) => folded(nameOf(line)) === typed) ?? fitting[0] ?? null;
}

function filter({ value, form }) {
  const typed = folded(value);
  for (const line of linesOf(form)) line.hidden = !folded(nameOf(line)).includes(typed);
  const note = form.querySelector("[data-new]");
  const line = found(form, typed);
  const text = line ? note.dataset.add : note.dataset.new;
  note.textContent = typed ? text.replace("{name}", () => (line ? nameOf(line) : value.trim())) : "";
  form.classList.toggle("is-new", !!typed && !line);
}

document.addEventListener("input", ({ target }) => {
  if (isField(target)) filter(target);
});
document.addEventListener("keydown", (event) => {
  const { target, key, isComposing } = event;
  if (!isField(target) || key !== "Enter" || isComposing || !target.value.trim()) return;
  const line = found(target.form, folded(target.value));
  if (!line) return;
  event.preventDefault();
  line.querySelector("input").checked = true;
  target.value = "";
  target.form.requestSubmit();
});
// A label that is clicked or touched is given or taken away at once. With the keyboard, Enter sends all that was chosen.
let isPressed = false;
document.addEventListener("click", ({ target, detail }) => {
  if (detail && target.closest?.(".label-form .check")) isPressed = true;
});
document.addEventListener("change", ({ target }) => {
  if (isPressed && target.matches(".label-form [name=label]")) target.form.requestSubmit();
  isPressed = false;
});
// With a finger, the keyboard of the screen would cover the labels.
export const hasKeyboard = matchMedia("(hover: hover)");
const focus = ({ target, newState }) => {
  if (target.id === "entry-labels" && newState === "open" && hasKeyboard.matches)
    target.querySelector("[name=new]").focus();
};
document.addEventListener("toggle", focus, true);
