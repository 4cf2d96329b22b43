// The service worker: copies of lists and of articles, for reading without a connection. It keeps the unread and the starred
// list, and the lists of feeds, categories and labels that were opened lately.
//
// Copies are pages of their own (/offline/…), which say when they were saved. They are in one cache, named after a header
// of every page: it changes with the session, the account, its settings and our release, and is "none" when nothing may
// be kept. As soon as a page states another name, all other caches are deleted.
const SCOPE = registration.scope;
const ROOT = new URL(SCOPE).pathname;
const SHELL = `tidings ${SCOPE}`;
const PREFIX = `${SHELL} `;
const OFFLINE = `${SCOPE}offline`;
const LIST = "offline/unread";
const LISTS = /^(?:unread|starred|(?:feeds|categories|labels)\/\d+)$/;
const MAX_LISTS = 20;
// Of articles.
const LIMIT = 100;
// So many of them may be articles that were opened and are in no list any more, or that are only in other lists.
const MAX_OPENED = 30;
const MAX_OTHERS = 30;
// Of the pictures of one article.
const PICTURE_BYTES = 500_000;
const FRESH_MS = 60_000;
// Copies wait for so long after a page, or a part of one, was asked for: the reader waits for that.
const QUIET_MS = 1_000;
const ENTRY =
  /^(?:unread(?:\/entry)?|starred|history|shared|tagged|search|entries|(?:feeds|categories|labels)\/\d+\/entries)\/(\d+)$/;
const COPY = /^offline\/\d+$/;
const OPENED_LIST = /^offline\/\w+\/\d+$/;
// What a copy needs to look as it should. Sounds and films are too large.
const FILE = new RegExp(`(?:href|src)="${ROOT}((?:static/|icons/|proxy/(?!stream)|custom[.])[^"#]+)`, "g");
const filesOf = (html) => [...new Set([...html.matchAll(FILE)].map((found) => found[1]))];
const isPicture = (file) => file.startsWith("proxy/");
// The name of the cache that the last page stated; "" when nothing may be kept, undefined when the worker has just started.
let current;
let syncing;
// A worker starts because of a page.
let askedAt = 0;

// Returns undefined for what is no page of ours.
function nameOf(response) {
  const stated = response.headers.get("Tidings-Offline");
  return stated ? (stated === "none" ? "" : PREFIX + stated) : undefined;
}

async function keepOnly(name) {
  current = name;
  for (const other of await caches.keys()) if (other.startsWith(PREFIX) && other !== name) await caches.delete(other);
}

async function cacheOfflinePage() {
  const cache = await caches.open(SHELL);
  const page = await fetch(OFFLINE, { credentials: "omit", cache: "reload" });
  const files = filesOf(await page.clone().text());
  for (const old of await cache.keys()) await cache.delete(old);
  await cache.put(OFFLINE, page);
  await cache.addAll(files.map((file) => SCOPE + file));
}

async function untilQuiet() {
  while (performance.now() < askedAt + QUIET_MS) await new Promise((go) => setTimeout(go, QUIET_MS));
}

// Returns the HTML of the copy at a path, after storing it with its files. Returns nothing when it may not be kept.
async function keep(path) {
  await untilQuiet();
  const response = await fetch(SCOPE + path, { cache: "no-store", priority: "low" });
  const name = nameOf(response);
  if (name === "" || (name && current === undefined)) await keepOnly(name);
  // Another session may have begun since: the answer is of the one before.
  if (!name || name !== current || !response.ok) return;
  const html = await response.clone().text();
  const isNew = !(await caches.has(name));
  const cache = await caches.open(name);
  await cache.put(SCOPE + path, response);
  await keepFiles(
    cache,
    filesOf(html).filter((file) => COPY.test(path) || !isPicture(file)),
  );
  if (isNew) await cacheOfflinePage();
  if (name !== current) return void caches.delete(name);
  return html;
}

async function keepFiles(cache, files) {
  let room = PICTURE_BYTES;
  for (const file of files) {
    if (isPicture(file) && room <= 0) continue;
    const kept = await cache.match(SCOPE + file);
    if (!kept) await untilQuiet();
    const response = kept ?? (await fetch(SCOPE + file, { priority: "low" }));
    if (!response.ok) continue;
    if (isPicture(file)) room -= (await response.clone().blob()).size;
    if (!kept && room >= 0) await cache.put(SCOPE + file, response);
  }
}

async function drop(cache, path) {
  const html = await (await cache.match(SCOPE + path)).text();
  await cache.delete(SCOPE + path);
  for (const file of filesOf(html).filter(isPicture)) await cache.delete(SCOPE + file);
}

const articlesOf = (html = "") => [...html.matchAll(/\bid="e(\d+)"/g)].map((found) => `offline/${found[1]}`);

async function isFresh(path) {
  const before = await caches.match(SCOPE + path);
  return before && Date.now() - Date.parse(before.headers.get("Date")) < FRESH_MS;
}

// Keep the unread and the starred list and the first articles of all lists. Drop what is in none and was not opened lately.
async function update() {
  if (await isFresh(LIST)) return;
  const html = await keep(LIST);
  if (!html) return;
  const unread = articlesOf(html);
  const others = articlesOf(await keep("offline/starred"));
  const cache = await caches.open(current);
  const paths = (await cache.keys()).map(({ url }) => url.slice(SCOPE.length));
  const lists = paths.filter((path) => OPENED_LIST.test(path));
  for (const path of lists.splice(0, lists.length - MAX_LISTS)) await cache.delete(SCOPE + path);
  for (const path of lists.reverse()) others.push(...articlesOf(await (await cache.match(SCOPE + path)).text()));
  const more = [...new Set(others)].filter((path) => !unread.includes(path)).slice(0, MAX_OTHERS);
  const kept = paths.filter((path) => COPY.test(path));
  const opened = kept.filter((path) => !unread.includes(path) && !more.includes(path)).slice(-MAX_OPENED);
  const wanted = [...more, ...unread].slice(0, LIMIT - opened.length);
  for (const path of kept) if (![...opened, ...wanted].includes(path)) await drop(cache, path);
  if (navigator.connection?.saveData) return;
  for (const path of wanted) if (!kept.includes(path) && !(await keep(path))) return;
}

// A lost connection or a full disk ends it: what is kept by then stays.
const sync = () =>
  (syncing ??= update()
    .catch(() => {})
    .finally(() => (syncing = null)));

async function note(name, copy, isNavigation) {
  if (name === undefined) return;
  if (name !== current) await keepOnly(name);
  const isWanted = name && (COPY.test(copy) || (OPENED_LIST.test(copy) && !(await isFresh(copy))));
  if (isWanted) await keep(copy).catch(() => {});
  // Pages send a message when they are loaded.
  if (name && !isNavigation) await sync();
}

async function load(event, path) {
  const isNavigation = event.request.mode === "navigate";
  askedAt = performance.now();
  const entry = ENTRY.exec(path)?.[1];
  const copy = entry ? `offline/${entry}` : LISTS.test(path) ? `offline/${path}` : path ? "" : LIST;
  try {
    const response = (await event.preloadResponse) ?? (await fetch(event.request));
    const name = nameOf(response);
    // What a reverse proxy answers while the service is away.
    if (name === undefined && [502, 503, 504].includes(response.status)) throw response;
    event.waitUntil(note(name, copy, isNavigation));
    return response;
  } catch {
    const isShown = copy && (entry || isNavigation);
    let found = isShown && (await caches.match(SCOPE + copy));
    // Its page shows what of the unread list is of this feed (kept.js).
    if (isShown && !found && /^feeds.\d+$/.test(path)) found = await caches.match(SCOPE + LIST);
    return found || (isNavigation && (await caches.match(OFFLINE))) || Response.error();
  }
}

// Where browsers have routes, pages and static files come from the network and do not wait for this worker. It hears of
// them all the same, and answers when the network does not, or with an error. Not of the style sheets of pages, for which
// the first paint waits: those of copies have a query.
const assets = (name, search) => ({ urlPattern: { pathname: `${ROOT}static/${name}`, search } });
const ROUTES = [
  { condition: assets("*.css", ""), source: "network" },
  { condition: { or: [{ requestMode: "navigate" }, assets("*")] }, source: "race-network-and-fetch-handler" },
];

addEventListener("install", (event) => {
  event.waitUntil(Promise.all([event.addRoutes?.(ROUTES), cacheOfflinePage()]).then(() => skipWaiting()));
});
addEventListener("activate", (event) => {
  event.waitUntil(Promise.all([clients.claim(), registration.navigationPreload?.enable(), caches.delete("tidings")]));
});
addEventListener("message", (event) => event.waitUntil(sync()));
addEventListener("fetch", (event) => {
  const { request } = event;
  if (!request.url.startsWith(SCOPE)) return;
  const path = request.url.slice(SCOPE.length).replace(/[?#].*/, "");
  if (request.method !== "GET") {
    if (/^sign-(in|out)$/.test(path)) event.waitUntil(keepOnly(""));
  } else if (request.mode === "navigate" || request.headers.has("Tidings-Part")) event.respondWith(load(event, path));
  else if (/^(static|icons|proxy|custom)\b(?!\/stream)/.test(path)) {
    event.respondWith(fetch(request).catch(async () => (await caches.match(request)) ?? Response.error()));
  }
});
