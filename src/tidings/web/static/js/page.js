// What all modules need to find their way around the page.
export const words = document.getElementById("words").dataset;
export const base = words.base;
export const byId = (id) => document.getElementById(id);
export const find = (selector) => document.querySelector(selector);
export const findAll = (selector) => [...document.querySelectorAll(selector)];

// Throws without a connection, and for an answer that is not JSON.
export const getJson = async (url) => (await fetch(url, { headers: { Accept: "application/json" } })).json();
