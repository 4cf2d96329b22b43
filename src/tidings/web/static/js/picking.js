// Picking the parts of a feed on a page that has none: the page is in a frame whose own scripts never run. What is picked
// goes to the server with the form, and comes back as the result, the selectors and the marks on the page.
import { byId, find, words } from "./page.js";
import { offer, setBusy, swap } from "./tidings.js";

const LOOK_MS = 250;
const SWAPPED = ["parts", "picked", "result", "selectors"];
const frame = find(".picker iframe");
const form = frame.closest("form");

// By a form, so that the address and what the site asks for are not in an address of ours.
function showPage() {
  const sent = document.createElement("form");
  sent.method = "post";
  sent.action = frame.dataset.from;
  sent.target = frame.name;
  for (const field of form.querySelectorAll(":scope > [type=hidden], #field-url, #field-kind")) {
    const copy = document.createElement("input");
    copy.type = "hidden";
    copy.name = field.name;
    copy.value = field.value;
    sent.append(copy);
  }
  document.body.append(sent);
  sent.submit();
  sent.remove();
}

// The document in the frame, null while it is not ours.
const inFrame = () => frame.contentDocument?.querySelector(".outline") && frame.contentDocument;

function mark() {
  const page = inFrame();
  if (!page) return;
  for (const one of page.querySelectorAll("[class^=is-]")) one.removeAttribute("class");
  for (const [name, numbers] of Object.entries(JSON.parse(byId("result").dataset.marks ?? "{}")))
    for (const number of numbers) page.getElementById(`e${number}`)?.classList.add(`is-${name}`);
}

// Only the frame scrolls, not the page around it.
function showFirst() {
  const first = inFrame()?.querySelector(".is-item");
  if (first) frame.contentWindow.scrollTo(0, first.getBoundingClientRect().top - 16);
}

let isBusy = false;

async function pick(number) {
  if (isBusy) return;
  isBusy = true;
  setBusy(form, true);
  const isOpen = byId("selectors").open;
  const body = new URLSearchParams(new FormData(form));
  body.set("pick", number);
  const done = await swap(form.action, SWAPPED, { method: "POST", body });
  setBusy(form, false);
  isBusy = false;
  if (done === null) return offer(words.offline, words.retry, () => pick(number));
  // A selector that was typed is wrong: the page says which.
  if (!done) return form.submit();
  byId("selectors").open = isOpen;
  mark();
}

const numberIn = (hash) => /^#e(\d+)$/.exec(hash)?.[1];

function onClick(event) {
  const number = numberIn(event.target.closest?.("a")?.hash ?? "");
  if (!number) return;
  // The link would be one more step back in the history.
  event.preventDefault();
  pick(number);
}

function onKey(event) {
  if (event.key === "Escape") byId("result").focus();
}

frame.addEventListener("load", () => {
  const page = inFrame();
  if (!page) return;
  page.addEventListener("click", onClick);
  page.addEventListener("keydown", onKey);
  mark();
  showFirst();
});

// WebKit calls no listeners in a frame without scripts: there the link is followed, which is seen in the address.
setInterval(() => {
  const page = inFrame();
  const number = page && numberIn(page.location.hash);
  if (!number) return;
  frame.contentWindow.history.replaceState(null, "", page.location.pathname);
  pick(number);
}, LOOK_MS);

showPage();
