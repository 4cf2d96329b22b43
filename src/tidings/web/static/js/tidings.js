// The core: fetching a page of ours and putting parts of it in place of what is here. A page works without any of this.
//
//   swap("/unread", ["list", "sidebar"])   elements of these ids become what they are on that page
//   announce("12 marked read")             told at the foot of the page, and to screen readers
//   beforeLeaving(keep)                    keep() while the page still can, perhaps twice
//
// <form data-swap="list sidebar">          is sent without leaving the page

const parser = new DOMParser();

// The page at an address, as a document of its own; url: where we ended up, which may be the sign-in page.
export async function load(url, options = {}) {
  const answer = await fetch(url, { credentials: "same-origin", ...options });
  const page = parser.parseFromString(await answer.text(), "text/html");
  return { page, url: answer.url, ok: answer.ok };
}

export function replace(page, ids) {
  for (const id of ids) {
    const here = document.getElementById(id);
    const there = page.getElementById(id);
    if (here && there) here.replaceWith(document.adoptNode(there));
  }
  document.dispatchEvent(new CustomEvent("tidings:swapped", { detail: { ids } }));
}

// False when it could not be done in place: then the browser is on its way to the page itself.
export async function swap(url, ids, options) {
  try {
    const got = await load(url, options);
    if (new URL(got.url).pathname.endsWith("/sign-in")) {
      location.assign(got.url);
      return false;
    }
    replace(got.page, ids);
    tell(got.page.getElementById("notice")?.childNodes ?? []);
    return got.ok;
  } catch {
    return false;
  }
}

// A busy browser ends the page before it hears of the second; phones leave out the first.
export function beforeLeaving(keep) {
  for (const name of ["beforeunload", "pagehide"]) addEventListener(name, keep);
}

export function announce(text) {
  tell(text ? [text] : []);
}

export function tell(nodes) {
  const notice = document.getElementById("notice");
  if (!notice || !nodes.length) return;
  // The same element, so that it is read aloud; it stays as long as one that came with the page.
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
  const body = new URLSearchParams(new FormData(form, event.submitter));
  const done = await swap(form.action, form.dataset.swap.split(" "), { method: "POST", body });
  if (!done) form.submit();
});
