// A filled form leaves its page only when there are a connection and a session, so that nothing that was typed is lost.
import { findAll, words } from "./page.js";
import { offer, renewSession, setBusy } from "./tidings.js";

const TYPED = "textarea, select, input:not([type=hidden])";
const checked = new WeakSet();

document.addEventListener("submit", async (event) => {
  const { target: form, submitter } = event;
  if (event.defaultPrevented || form.getAttribute("method") !== "post" || !form.querySelector(TYPED)) return;
  if (checked.delete(form)) return;
  event.preventDefault();
  if (form.ariaBusy) return;
  setBusy(form, true);
  const state = await renewSession();
  setBusy(form, false);
  if (state === "offline") offer(words.offline, words.retry, () => form.requestSubmit(submitter));
  if (state !== "current") return;
  checked.add(form);
  form.requestSubmit(submitter);
});

// A button that waits for a publisher is pressed once.
addEventListener("submit", ({ target, submitter, defaultPrevented }) => {
  if (defaultPrevented || !target.matches("[action$='/feeds/find'], [action$='/feeds/add'], [data-slow]") || !submitter)
    return;
  submitter.setAttribute("aria-busy", "true");
  setTimeout(() => {
    submitter.disabled = true;
  });
});
addEventListener("pageshow", () => {
  for (const button of findAll("[aria-busy]")) {
    button.disabled = false;
    button.removeAttribute("aria-busy");
  }
});
