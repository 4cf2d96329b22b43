// Buttons that copy or share, in settings and in the menu of an entry.
import { byId, changed, words } from "./page.js";
import { announce, load, offer, showNotice } from "./tidings.js";

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

// Copy what the answer to a form shows. It is not there yet, but browsers want to hear of it while the button's event is handled.
const write = async (text) =>
  navigator.clipboard.write([
    new ClipboardItem({ "text/plain": text.then((one) => new Blob([one], { type: "text/plain" })) }),
  ]);
const textIn = (page, selector) => {
  const found = page.querySelector(selector)?.textContent;
  if (!found) throw new Error(selector);
  return found;
};
document.addEventListener("submit", async (event) => {
  const form = event.target;
  const { copied, done, swap } = form.dataset;
  if (!copied || !navigator.clipboard || (event.defaultPrevented && !swap)) return;
  event.preventDefault();
  if (swap) {
    // The page itself shows the answer, with a notice (`tidings.js`).
    const swapped = new Promise((resolve) => {
      document.addEventListener("tidings:swapped", resolve, { once: true });
    });
    return write(swapped.then(() => textIn(document, copied))).then(
      () => showNotice([...byId("notice").childNodes, ` · ${done}`]),
      () => {},
    );
  }
  const body = new URLSearchParams(new FormData(form));
  const answer = load(form.action, { method: "POST", body });
  const text = answer.then(({ page }) => textIn(page, copied));
  try {
    await write(text);
    form.closest("[popover]")?.hidePopover();
    announce(`${await text} · ${done}`);
  } catch {
    await answer.then(
      ({ url }) => location.assign(url),
      () => offer(words.offline, words.retry, () => form.requestSubmit()),
    );
  }
});
