// What is typed above the feeds of the sidebar finds them, whether they are loaded or not.
import { byId } from "./page.js";
import { ask } from "./sidebar.js";

const TYPING_MS = 120;
let timer = 0;
let latest = 0;

export function search(name) {
  clearTimeout(timer);
  timer = setTimeout(show, TYPING_MS, name);
}

async function show(name) {
  const request = ++latest;
  const found = name ? await ask({ name }).catch(() => null) : null;
  if (request !== latest) return;
  byId("found")?.remove();
  byId("groups").hidden = !!found;
  if (!found) return;
  found.id = "found";
  byId("groups").before(found);
}
