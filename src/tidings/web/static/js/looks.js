// How articles look: seen at the first touch, and kept for this device.
import { post } from "./marks.js";

const ready = () => document.querySelector("form[data-looks]")?.classList.add("is-ready");
ready();
document.addEventListener("tidings:swapped", ready);
document.addEventListener("change", (event) => {
  const form = event.target.closest?.("form[data-looks]");
  if (!form) return;
  const { name, value } = event.target;
  // "As in my account" is known to the server only.
  if (value) document.documentElement.dataset[name] = value;
  post(form.action, { [name]: value }).then((told) => told && !value && location.reload());
});
// A player is asked for when somebody wants to see it.
document.addEventListener("click", (event) => {
  const cover = event.target.closest?.(".embed a");
  if (!cover) return;
  event.preventDefault();
  cover.parentElement.replaceChildren(cover.nextElementSibling.content.cloneNode(true));
});
document.addEventListener("click", async (event) => {
  const link = event.target.closest?.("[data-keys-help]");
  if (!link) return;
  event.preventDefault();
  link.closest("[popover]")?.hidePopover();
  (await import("./keys.js")).help();
});
