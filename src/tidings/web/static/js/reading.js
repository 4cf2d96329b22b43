// What reading is faster with. Each part works alone, and every page works without any of them.
import "./marks.js";
import "./lists.js";
import "./panes.js";
import "./counts.js";
import "./keys.js";
import "./looks.js";
import "./player.js";
import "./touch.js";

// For the page that is shown without a connection.
navigator.serviceWorker?.register(`${document.getElementById("words").dataset.base}/worker.js`);
