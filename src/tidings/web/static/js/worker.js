// The service worker: caches the offline page with its styles, and no content of users.
const OFFLINE = new URL("offline", registration.scope).href;

async function cacheOfflinePage() {
  const cache = await caches.open("tidings");
  const page = await fetch(OFFLINE, { credentials: "omit", cache: "reload" });
  const parts = [...(await page.clone().text()).matchAll(/(?:href|src)="([^"]*\/static\/[^"]+)"/g)];
  for (const old of await cache.keys()) await cache.delete(old);
  await cache.put(OFFLINE, page);
  await cache.addAll([...new Set(parts.map((found) => found[1]))]);
}

addEventListener("install", (event) => event.waitUntil(cacheOfflinePage().then(() => skipWaiting())));
addEventListener("activate", (event) => event.waitUntil(clients.claim()));
addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || !request.url.startsWith(registration.scope)) return;
  if (request.mode === "navigate") event.respondWith(fetch(request).catch(() => caches.match(OFFLINE)));
  else if (request.url.includes("/static/")) {
    event.respondWith(fetch(request).catch(async () => (await caches.match(request)) ?? Response.error()));
  }
});
