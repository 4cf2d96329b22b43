// The scripts of all pages with a session. Each part works alone, and every page works without them.
import { begin } from "./start.js";
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

// Who leaves the page soon needs no connection, and no copies for reading offline: the worker brings them up to date when
// it gets a message.
function settle() {
  addPart("live", ({ join }) => join());
  if (wide.matches) addPart("columns");
  const workers = navigator.serviceWorker;
  workers
    ?.register(`${base}/worker.js`)
    .then(() => workers.ready)
    .then(({ active }) => active.postMessage(""))
    .catch(() => {});
}
const wait = () => setTimeout(settle, 1_000);
if (document.readyState === "complete") wait();
else addEventListener("load", wait);
begin();
