// The service worker: keeps the offline page and what it looks like, and nothing that is anybody's own.
const OFFLINE = new URL("offline", registration.scope).href;

async function keep() {
  const kept = await caches.open("tidings");
  const page = await fetch(OFFLINE, { credentials: "omit", cache: "reload" });
  const parts = [...(await page.clone().text()).matchAll(/(?:href|src)="([^"]*\/static\/[^"]+)"/g)];
  for (const old of await kept.keys()) await kept.delete(old);
  await kept.put(OFFLINE, page);
  await kept.addAll([...new Set(parts.map((found) => found[1]))]);
}

addEventListener("install", (event) => event.waitUntil(keep().then(() => skipWaiting())));
addEventListener("activate", (event) => event.waitUntil(clients.claim()));
addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || !request.url.startsWith(registration.scope)) return;
  if (request.mode === "navigate") event.respondWith(fetch(request).catch(() => caches.match(OFFLINE)));
  else if (request.url.includes("/static/")) {
    event.respondWith(fetch(request).catch(async () => (await caches.match(request)) ?? Response.error()));
  }
});
