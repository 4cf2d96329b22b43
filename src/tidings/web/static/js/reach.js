// Not every browser lets the keyboard reach what scrolls.
import { changed } from "./page.js";

function reach(event) {
  for (const one of changed(event).querySelectorAll(".content :is(pre, table)"))
    if (one.scrollWidth > one.clientWidth) one.tabIndex = 0;
}
reach();
document.addEventListener("tidings:swapped", reach);
