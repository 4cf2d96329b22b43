// The word at which a query cannot be read is selected in its field.
import { find } from "./page.js";

const field = find("[data-wrong]");
field.focus();
field.setSelectionRange(...field.dataset.wrong.split(" ").map(Number));
