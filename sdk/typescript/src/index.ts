/**
 * Feedmill for TypeScript and JavaScript: a typed client of the API, and verification of webhooks.
 * It has no dependencies and runs in Node.js and browsers.
 */
export type { Api, Arguments } from "./api.js";
export { Client } from "./client.js";
export type { ChangesOptions, DataFeed, Row, RowQuery, RowsOptions, Value } from "./client.js";
export * from "./errors.js";
export { ExactNumber, parse, stringify } from "./json.js";
export type { components, operations } from "./openapi.js";
export type { CallOptions, ClientOptions, RequestOptions, Upload } from "./transport.js";
export * from "./webhook.js";
