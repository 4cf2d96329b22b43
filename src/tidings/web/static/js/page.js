// What all modules need to find their way around the page.
export const words = document.getElementById("words").dataset;
export const base = words.base;
export const byId = (id) => document.getElementById(id);
export const find = (selector) => document.querySelector(selector);
// Where to look after parts of the page were replaced: a new article has no need to look through a long list. Without
// an event, everywhere.
export const changed = (event) => (event?.detail.ids.join() === "pane" ? byId("pane") : document);
// In an article, and in its bar on a phone.
export const findInArticle = (selector) =>
  [byId("pane"), byId("bottom")].flatMap((one) => [...(one?.querySelectorAll(selector) ?? [])]);
export const findAll = (selector) => [...document.querySelectorAll(selector)];

// Throws without a connection, and for an answer that is not JSON.
export const getJson = async (url) => (await fetch(url, { headers: { Accept: "application/json" } })).json();
