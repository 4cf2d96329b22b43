// Settings: buttons that copy or share, also in the menu of an entry, and scrolling the navigation to the current page on narrow screens.
import { byId, changed, find } from "./page.js";
import { announce } from "./tidings.js";

function prepare(event) {
  for (const button of changed(event).querySelectorAll("[data-copy], [data-share]")) {
    button.hidden = !navigator[button.dataset.copy ? "clipboard" : "share"];
  }
}
prepare();
document.addEventListener("tidings:swapped", prepare);
document.addEventListener("click", async ({ target }) => {
  const button = target.closest?.("[data-copy], [data-share]");
  if (!button) return;
  const { copy, done, share: url, title } = button.dataset;
  // Closing the sheet of the system is an error for the browser, not for us.
  if (url) return navigator.share({ title, url }).catch(() => {});
  const from = byId(copy);
  await navigator.clipboard.writeText(from.dataset.text ?? from.textContent);
  announce(done);
});

const row = find(".settings-nav ul");
const here = row?.querySelector("[aria-current]");
if (here && row.scrollWidth > row.clientWidth)
  row.scrollLeft = here.offsetLeft - (row.clientWidth - here.offsetWidth) / 2;
