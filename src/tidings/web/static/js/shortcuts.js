// The page of shortcuts: says at once which keys collide or cannot be chosen, and fills in the defaults.
// domain/accounts/shortcuts.py decides in the same way when they are saved.
import { byId, find, findAll } from "./page.js";

const form = find(".shortcuts");
const fields = findAll(".shortcuts [data-default]");
const ARROWS = ["←", "→", "ArrowLeft", "ArrowRight"];
const keysOf = (field) => [...new Set(field.value.split(/\s+/).filter(Boolean))];
const isPossible = (key) => ARROWS.includes(key) || (key.length <= 2 && /^[\p{L}\p{N}\p{P}\p{S}]+$/u.test(key));
const isArrow = (key) => ARROWS.includes(key);
const collide = (one, other) =>
  isArrow(one) || isArrow(other) ? one === other : one.startsWith(other) || other.startsWith(one);

function problemOf(field) {
  for (const key of keysOf(field)) {
    if (!isPossible(key)) return form.dataset.impossible.replace("{key}", key);
    const other = fields.find((one) => one !== field && keysOf(one).some((taken) => collide(key, taken)));
    if (other) return form.dataset.taken.replace("{key}", key).replace("{command}", other.labels[0].textContent);
  }
  return "";
}

function check() {
  for (const field of fields) {
    const problem = problemOf(field);
    field.ariaInvalid = problem ? "true" : null;
    byId(`error-${field.name}`).textContent = problem;
    const reset = find(`button[name=default][value=${field.name}]`);
    reset.hidden = keysOf(field).join(" ") === field.dataset.default;
  }
}

form.addEventListener("input", check);
form.addEventListener("click", (event) => {
  const reset = event.target.closest("button[name=default]");
  if (!reset) return;
  event.preventDefault();
  const field = form.elements[reset.value];
  field.value = field.dataset.default;
  check();
  field.focus();
});
// An arrow cannot be typed as a character: in an empty field, pressing it means it.
form.addEventListener("keydown", ({ target, key }) => {
  const arrow = { ArrowLeft: "←", ArrowRight: "→" }[key];
  if (!arrow || !target.dataset.default || target.value) return;
  target.value = arrow;
  check();
});
