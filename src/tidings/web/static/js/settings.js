// Settings: copy buttons, and scrolling the navigation to the current page on narrow screens.
import { announce } from "./tidings.js";

for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    const text = document.getElementById(button.dataset.copy).textContent;
    await navigator.clipboard.writeText(text);
    announce(button.dataset.done);
  });
}

const row = document.querySelector(".settings-nav ul");
const here = row?.querySelector("[aria-current]");
if (here && row.scrollWidth > row.clientWidth) row.scrollLeft = here.offsetLeft - (row.clientWidth - here.offsetWidth) / 2;
