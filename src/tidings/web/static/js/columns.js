// Handles between the columns of wide windows: dragged, or moved with the arrow keys; a double click, or Home, gives the
// column its default width. Widths have steps, which the styles know, so that the first HTML of a page is right.
import { base, byId, words } from "./page.js";
import { post } from "./marks.js";

const STEP_PX = 32;
// By id: the name of the width, and its limits.
const COLUMNS = { sidebar: ["sidebarWidth", 192, 384], column: ["listWidth", 288, 640] };
const root = document.documentElement.dataset;
const ahead = document.dir === "rtl" ? -1 : 1;
let sending = Promise.resolve();

function add(id, [name, least, most]) {
  const handle = document.createElement("div");
  const column = byId(id);
  const said = { valuemin: least, valuemax: most, orientation: "vertical", controls: id, label: words[name] };
  for (const [key, value] of Object.entries(said)) handle.setAttribute(`aria-${key}`, value);
  handle.className = "divider";
  handle.role = "separator";
  handle.tabIndex = 0;

  // width: in pixels; "" for the default.
  function show(width) {
    if (width === "") delete root[name];
    else root[name] = Math.max(least, Math.min(most, Math.round(width / STEP_PX) * STEP_PX));
    handle.ariaValueNow = root[name] ?? Math.round(column.offsetWidth);
  }

  // One after the other: each answer sets the cookie that the next request changes.
  function store() {
    const field = name.replace("W", "_w");
    const width = root[name] ?? "";
    sending = sending.then(() => post(`${base}/view`, { [field]: width }));
  }

  const change = (width) => {
    show(width);
    store();
  };
  handle.onpointerdown = (event) => {
    const { left, right } = column.getBoundingClientRect();
    handle.setPointerCapture(event.pointerId);
    handle.onpointermove = ({ clientX }) => show(ahead > 0 ? clientX - left : right - clientX);
  };
  handle.onlostpointercapture = () => {
    handle.onpointermove = null;
    store();
  };
  handle.ondblclick = () => change("");
  handle.onkeydown = (event) => {
    const step = { ArrowLeft: -ahead, ArrowRight: ahead }[event.key];
    if (!step && event.key !== "Home") return;
    event.preventDefault();
    // Elsewhere these keys go to other entries, and scroll.
    event.stopPropagation();
    change(step ? Math.round(column.offsetWidth / STEP_PX + step) * STEP_PX : "");
  };
  show(root[name] ?? "");
  // Within a landmark, as everything on a page.
  column.closest("nav, main").append(handle);
}

for (const [id, column] of Object.entries(COLUMNS)) if (byId(id)) add(id, column);
