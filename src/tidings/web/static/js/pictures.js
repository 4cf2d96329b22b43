// Pictures of articles: enlarged above the page; where one is broken, its description or a link stands instead of a hole.
import { changed, words } from "./page.js";

const ALL = ".content img, .attached img, .row-picture";

function leave(image) {
  const link = image.closest("a");
  const needsText = !image.closest(".embed, .row");
  const isEmpty = link && !link.textContent.trim();
  (image.closest("picture") ?? image).replaceWith(needsText ? image.alt || (isEmpty ? words.picture : "") : "");
  if (!link?.matches(".zoom")) return;
  link.className = "";
  link.removeAttribute("aria-label");
}

// Those that failed before this script ran. Drawings without a size have no natural width, either: decoding tells.
function check(event) {
  for (const image of changed(event).querySelectorAll(ALL)) {
    if (!image.complete) continue;
    if (image.naturalWidth) shrink(image);
    else
      image.decode().then(
        () => shrink(image),
        () => leave(image),
      );
  }
}

// The placeholder of our proxy has no size, and its status is 404, which not every browser tells. Its link leads to the page
// that says why the picture is missing.
const isPlaceholder = (image) =>
  image.currentSrc.includes("/proxy/") &&
  [0, 300].includes(image.naturalWidth) &&
  [0, 150].includes(image.naturalHeight) &&
  (performance.getEntriesByName(image.currentSrc).at(-1)?.responseStatus || 404) === 404;
const shrink = (image) => image.classList.toggle("missing", isPlaceholder(image));

addEventListener("error", ({ target }) => target.matches?.(ALL) && leave(target), true);
document.addEventListener("load", ({ target }) => target.matches?.(ALL) && shrink(target), true);
document.addEventListener("tidings:swapped", check);
check();
document.addEventListener("click", (event) => {
  const image = event.target.closest?.(".zoom")?.querySelector("img");
  if (!image || isPlaceholder(image) || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  const dialog = document.createElement("dialog");
  dialog.className = "picture";
  dialog.ariaLabel = image.alt || words.picture;
  dialog.onclick = () => dialog.close();
  dialog.onclose = () => dialog.remove();
  dialog.append(Object.assign(image.cloneNode(), { sizes: "100vw", loading: "eager" }));
  document.body.append(dialog);
  dialog.showModal();
});
