// On pages about subscriptions: what takes a while says so.

// A button that waits for a publisher is pressed once.
addEventListener("submit", ({ target, submitter }) => {
  if (!target.matches("[action$='/feeds/find'], [action$='/feeds/add'], [data-slow]") || !submitter) return;
  submitter.setAttribute("aria-busy", "true");
  setTimeout(() => { submitter.disabled = true; });
});
addEventListener("pageshow", () => {
  for (const button of document.querySelectorAll("[aria-busy]")) {
    button.disabled = false;
    button.removeAttribute("aria-busy");
  }
});
