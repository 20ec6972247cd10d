// A client of the generated types: it compiles only if optional members are optional.
import type { components, webhooks } from "./openapi";

export const feed: components["schemas"]["RestFeed"] = {
  request: { url: "https://shop.example/orders" },
  response: { path: "$.data[*]" },
  pagination: { kind: "page", param: "page" },
};

export const query: components["schemas"]["RowQuery"] = {
  fields: [{ field: "total", filters: [{ op: "gt", values: [10] }] }],
};

export const subscription: components["schemas"]["SubscriptionFields"] = {
  url: "https://shop.example/hook",
  events: ["metric.*"],
  delivery: { timeout: "30s" },
};

type Payload = webhooks["metric.refreshed"]["post"]["requestBody"]["content"]["application/json"];

export function value(payload: Payload): number | null | undefined {
  return payload.data.value;
}
