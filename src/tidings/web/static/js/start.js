// Runs when the page is there. All other modules wait until it has been painted: they would lay it out before.
const early = [];

// Characters outside of fields are keys of ours, or of nobody's.
function keep(event) {
  const { key, target } = event;
  const isOther = event.ctrlKey || event.metaKey || event.altKey || target.closest?.("input, textarea, select");
  if (isOther || key.length > 1 || key === " " || !document.documentElement.dataset.keys) return;
  event.preventDefault();
  early.push(event);
}
addEventListener("keydown", keep);

export const painted = new Promise((go) => {
  if (document.hidden) return go();
  new PerformanceObserver(go).observe({ type: "paint", buffered: true });
  // A window that is not drawn paints nothing.
  setTimeout(go, 1_000);
});

// Press the keys again that were pressed before there was a module for them.
export function begin() {
  removeEventListener("keydown", keep);
  for (const event of early) event.target.dispatchEvent(new KeyboardEvent("keydown", event));
  document.documentElement.dataset.ready = "";
}
