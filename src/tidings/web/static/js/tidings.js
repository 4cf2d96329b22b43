// The core: fetches a page of ours and replaces parts of this one with it. Every page works without it.
//
//   swap("/unread", ["list", "sidebar"])   replaces the elements with these ids by those of that page
//   announce("12 marked read")             shown at the foot of the page, and read by screen readers
//   offer("No connection.", "Retry", act)  the same with a button
//   beforeLeaving(keep)                    calls keep() before the page is left, perhaps twice
//
// <form data-swap="list sidebar">          is sent without leaving the page
import { base, byId, findAll, getJson, words } from "./page.js";

const parser = new DOMParser();

// Fetch a page and parse it. Returns its document and its url after redirects, which may be the sign-in page.
export async function load(url, options = {}) {
  const answer = await fetch(url, { credentials: "same-origin", ...options });
  const page = parser.parseFromString(await answer.text(), "text/html");
  return { page, url: answer.url, ok: answer.ok };
}

// Tell the other scripts that parts of the page were replaced or added.
export const swapped = (ids) => document.dispatchEvent(new CustomEvent("tidings:swapped", { detail: { ids } }));

export function replace(page, ids) {
  for (const id of ids) {
    const here = byId(id);
    const there = page.getElementById(id);
    if (here && there) here.replaceWith(document.adoptNode(there));
  }
  swapped(ids);
}

// Returns false when the page could not be swapped: then the browser navigates to it. Returns null without a connection.
export async function swap(url, ids, options) {
  try {
    const got = await load(url, options);
    if (isExpired(got.url)) return true;
    replace(got.page, ids);
    showNotice(got.page.getElementById("notice")?.childNodes ?? []);
    return got.ok;
  } catch {
    return null;
  }
}

// Returns whether a URL leads to the sign-in page, because the session has ended.
export const hasEnded = (url) => /\/sign-in(\?|$)/.test(url);

// The same, after saying so. The page stays, with all that was typed.
export function isExpired(url) {
  if (hasEnded(url)) offer(words.expired, words.signIn, () => signIn(url));
  return hasEnded(url);
}

const isChanged = (field) =>
  field.type !== "hidden" && (field.value !== field.defaultValue || field.checked !== field.defaultChecked);

// Where something was typed, the sign-in page opens in another tab, and the forms here go on with the new session.
function signIn(url) {
  if (!findAll("main textarea, main input").some(isChanged)) return location.assign(url);
  open(url, "_blank");
  addEventListener("focus", renewSession);
}

// Give the forms of this page the token of the present session. Returns "current", "expired" after saying so, or
// "offline". When someone else has signed in, the forms keep their token, with which the server refuses them.
export async function renewSession() {
  try {
    const { user, csrf, to } = await getJson(`${base}/session`);
    const here = (location.pathname + location.search).slice(base.length);
    if (to) return isExpired(`${base}/sign-in?next=${encodeURIComponent(here)}`) && "expired";
    if (String(user) === words.user) for (const field of findAll("input[name=csrf]")) field.value = csrf;
    return "current";
  } catch {
    return "offline";
  }
}

// A busy browser may not deliver pagehide, and phones do not send beforeunload.
export function beforeLeaving(keep) {
  for (const name of ["beforeunload", "pagehide"]) addEventListener(name, keep);
}

// Waiting for another page is shown also where the browser shows nothing, in an installed app.
// A navigation that ends without a page (a download, a stopped one) is an error for the browser.
const root = document.documentElement;
globalThis.navigation?.addEventListener("navigate", ({ destination, downloadRequest }) => {
  const isPage = !destination.sameDocument && downloadRequest === null && destination.url.startsWith(location.origin);
  if (isPage) root.dataset.loading = "";
});
const arrive = () => delete root.dataset.loading;
globalThis.navigation?.addEventListener("navigateerror", arrive);
addEventListener("pageshow", arrive);

export function setBusy(form, isBusy) {
  form.ariaBusy = isBusy ? "true" : null;
  if (isBusy) root.dataset.loading = "";
  else arrive();
}

export function announce(text) {
  showNotice(text ? [text] : []);
}

export function offer(text, label, action) {
  const button = document.createElement("button");
  button.textContent = label;
  button.onclick = action;
  showNotice([`${text} `, button]);
}

export function showNotice(nodes) {
  const notice = byId("notice");
  if (!notice || !nodes.length) return;
  // Reuse the element, so that screen readers read it, and restart its animation, so that it stays as long as any notice.
  for (const leaving of notice.getAnimations()) {
    leaving.cancel();
    leaving.play();
  }
  notice.replaceChildren(...nodes);
}

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!form.dataset.swap || event.defaultPrevented) return;
  event.preventDefault();
  // Fetching a whole article takes seconds.
  if (form.ariaBusy) return;
  setBusy(form, true);
  const body = new URLSearchParams(new FormData(form, event.submitter));
  const done = await swap(form.action, form.dataset.swap.split(" "), { method: "POST", body });
  setBusy(form, false);
  if (done === null) offer(words.offline, words.retry, () => form.requestSubmit(event.submitter));
  else if (!done) form.submit();
});
