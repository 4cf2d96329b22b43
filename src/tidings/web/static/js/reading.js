// The scripts of all pages with a session. Each part works alone, and every page works without them.
import { addPart } from "./parts.js";
import "./marks.js";
import "./lists.js";
import "./split_view.js";
import "./counts.js";
import "./keys.js";
import "./appearance.js";
import "./reading_order.js";
import "./sidebar.js";
// The last to hear of a form: it sends those that no other module does.
import "./forms.js";

import { base } from "./page.js";
import { wide } from "./lists.js";

// Who leaves the page soon needs no connection.
function settle() {
  addPart("live", ({ join }) => join());
  if (wide.matches) addPart("columns");
}
addEventListener("load", () => setTimeout(settle, 1_000));

// Keeps copies for reading offline, which it brings up to date when it gets a message.
const workers = navigator.serviceWorker;
workers
  ?.register(`${base}/worker.js`)
  .then(() => workers.ready)
  .then(({ active }) => active.postMessage(""))
  .catch(() => {});
