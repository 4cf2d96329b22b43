// Appearance of articles: applied at once, and stored for this device.
import { changed } from "./page.js";
import { post } from "./marks.js";
import { withPart } from "./parts.js";

const ready = (event) => changed(event).querySelector("form[data-appearance]")?.classList.add("is-ready");
ready();
document.addEventListener("tidings:swapped", ready);
document.addEventListener("change", (event) => {
  const form = event.target.closest?.("form[data-appearance]");
  if (!form) return;
  const { name, value } = event.target;
  // Only the server knows the value of "Same as my account".
  if (value) document.documentElement.dataset[name] = value;
  post(form.action, { [name]: value }).then((result) => result && !value && location.reload());
});
// A player is loaded when the user clicks its cover.
document.addEventListener("click", (event) => {
  const cover = event.target.closest?.(".embed a");
  if (!cover) return;
  event.preventDefault();
  cover.parentElement.replaceChildren(cover.nextElementSibling.content.cloneNode(true));
});
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("[data-keys-help]");
  if (!link) return;
  event.preventDefault();
  link.closest("[popover]")?.hidePopover();
  withPart("actions", ({ help }) => help());
});
