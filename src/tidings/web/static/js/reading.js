// The scripts of all pages with a session. Each part works alone, and every page works without them.
import "./marks.js";
import "./lists.js";
import "./split_view.js";
import "./counts.js";
import "./keys.js";
import "./appearance.js";
import "./player.js";
import "./pictures.js";
import "./touch.js";
import "./refresh.js";
import "./reading_order.js";
import "./sidebar.js";
import "./feeds.js";
import "./settings.js";

// Shows the offline page without a connection.
navigator.serviceWorker?.register(`${document.getElementById("words").dataset.base}/worker.js`).catch(() => {});
