// What a script in TypeScript does with types that are generated from the OpenAPI document. The tests compile it.
import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";

type Entry = components["schemas"]["Entry"];

const client = createClient<paths>({
  baseUrl: "https://reader.example.org",
  headers: { "X-Auth-Token": "secret", Accept: "application/json" },
});

/** Return the titles of unread entries, and of what they repeat. */
export async function unread(): Promise<Map<number, string>> {
  const { data, error } = await client.GET("/v1/entries", {
    params: { query: { status: ["unread"], limit: 20, order: "published_at", fields: ["id", "title"] } },
  });
  if (error) throw new Error("detail" in error ? error.detail : error.error_message);
  return new Map(data.entries.map((entry: Entry) => [entry.id, entry.title]));
}

/** Subscribe to a feed and return its category, whose counts may be missing. */
export async function subscribe(feed_url: string): Promise<number | undefined> {
  const { data } = await client.POST("/v1/feeds", { body: { feed_url, crawler: true } });
  if (!data) return undefined;
  const feed = await client.GET("/v1/feeds/{feed_id}", { params: { path: { feed_id: data.feed_id } } });
  const categories = await client.GET("/v1/categories", { params: { query: { counts: true } } });
  return categories.data?.find((one) => one.id === feed.data?.category.id)?.total_unread;
}

/** The types of settings of integrations have names. */
export function topic(integrations: components["schemas"]["Integrations"]): string {
  const ntfy: components["schemas"]["NtfyIntegration"] = integrations.ntfy;
  return ntfy.enabled ? ntfy.topic : "";
}

// Each of these is an error that the compiler has to find: it complains about an expectation that is not met.
// @ts-expect-error there is no such path
await client.GET("/v1/entry");
// @ts-expect-error a status has three values
await client.GET("/v1/entries", { params: { query: { status: ["new"] } } });
// @ts-expect-error an address is needed
await client.POST("/v1/feeds", { body: {} });
// @ts-expect-error an id is a number
await client.DELETE("/v1/feeds/{feed_id}", { params: { path: { feed_id: "7" } } });
// @ts-expect-error counts may be missing
export const feeds = (category: components["schemas"]["CountedCategory"]): number => category.feed_count;
