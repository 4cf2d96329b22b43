// What a long touch on a row, or its key, opens: its labels, and marking what is above or below it.
import { base, byId, words } from "./page.js";
import { isExpired, load, offer } from "./tidings.js";
import { withPart } from "./parts.js";
import { hasKeyboard } from "./labels.js";
import { chosen, select } from "./lists.js";

export async function open(row) {
  const id = row.id.slice(1);
  const { page, url, ok } = await load(`${base}/entries/${id}/labels`, { headers: { "Tidings-Part": "main" } }).catch(
    () => ({}),
  );
  if (!page) return offer(words.offline, words.retry, () => open(row));
  if (isExpired(url) || !ok) return;
  document.querySelector("dialog.held")?.remove();
  const dialog = document.createElement("dialog");
  dialog.className = "held";
  dialog.append(...page.querySelector(".inner").children);
  dialog.ariaLabel = dialog.querySelector("h1").textContent;
  const form = dialog.querySelector("form");
  form.elements.back.value = (location.pathname + location.search).slice(base.length);
  form.before(...(byId("column").dataset.mark ? ["above", "below"].map((name) => marker(dialog, name, id)) : []));
  // On itself: in a field, the focus would open the keyboard of the screen.
  if (hasKeyboard.matches) form.elements.new.autofocus = true;
  else dialog.autofocus = true;
  // It stays, unseen, until its form has been sent, perhaps again.
  let isSent = false;
  dialog.addEventListener("close", () => isSent || dialog.remove());
  dialog.addEventListener("click", ({ target }) => target === dialog && dialog.close());
  // The answer replaces the row that keys act on.
  const wasChosen = chosen() === row;
  const chooseAgain = ({ detail }) => {
    if (!detail.ids.includes(row.id)) return;
    document.removeEventListener("tidings:swapped", chooseAgain);
    if (byId(row.id)) select(byId(row.id));
  };
  form.addEventListener("submit", () => {
    isSent = true;
    dialog.close();
    if (wasChosen) document.addEventListener("tidings:swapped", chooseAgain);
  });
  document.body.append(dialog);
  dialog.showModal();
}

function marker(dialog, name, id) {
  const button = document.createElement("button");
  Object.assign(button, { type: "button", className: "tool", textContent: words[name] });
  button.onclick = () => {
    dialog.close();
    withPart("bulk", ({ markList }) => markList(byId("column").dataset.mark, { [name]: id }));
  };
  return button;
}
