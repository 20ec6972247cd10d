import type { Api } from "./api.js";
import { parse, parseRow, readExact } from "./json.js";
import type { ExactNumber, NumberReader } from "./json.js";
import type { components } from "./openapi.js";
import { operationTable } from "./operations.js";
import { Transport, lines } from "./transport.js";
import type { CallOptions, RequestOptions } from "./transport.js";

export type DataFeed = components["schemas"]["DataFeed"];
export type RowQuery = components["schemas"]["RowQuery"];

/** A value of a row. Integers are `bigint`, decimals are exact strings, and numbers are `number`. */
export type Value = string | number | bigint | boolean | null | ExactNumber | Value[] | { [name: string]: Value };
/** A row by column names. */
export type Row = Record<string, Value>;

export interface RowsOptions extends CallOptions {
  /** The columns to return, separated by commas. */
  fields?: string;
  /** Conditions such as `total:gt:100`. */
  filter?: string[];
  /** The columns to sort by, separated by commas. `-` sorts in descending order. */
  sort?: string;
  limit?: number;
  offset?: number;
  version?: number;
}

export interface ChangesOptions extends CallOptions {
  /** The version that you have. */
  from: number;
  /** The version to compare with. Default is the current one. */
  to?: number;
  fields?: string;
  filter?: string[];
}

export interface Client extends Api {}

/**
 * A client for one server and one credential.
 *
 * It has a method for each operation of the API, named like its operation ID. Methods return `data` of the response.
 * Methods that start with `list` iterate over all pages. `rows`, `changes` and `query` read typed rows.
 */
export class Client extends Transport {
  /** Streams the rows of a feed. Without `limit` these are all rows, in constant memory. */
  rows(feed: string | DataFeed, options: RowsOptions = {}): AsyncGenerator<Row, void, undefined> {
    const { fields, filter, sort, limit, offset, version, ...call } = options;
    return this.#typed(feed, "data", { fields, filter, sort, limit, offset, version }, call);
  }

  /** Streams the rows in which two versions differ, with `_change` and `_before`. */
  changes(feed: string | DataFeed, options: ChangesOptions): AsyncGenerator<Row, void, undefined> {
    const { from, to, fields, filter, ...call } = options;
    return this.#typed(feed, "changes", { from, to, fields, filter }, call);
  }

  /** Streams the result of a query. All integers and decimals are exact strings. */
  async *query(feed: string, query: RowQuery, options: CallOptions & { version?: number } = {}): AsyncGenerator<Row, void, undefined> {
    const { version, ...call } = options;
    const path = `/data_feeds/${encodeURIComponent(feed)}/query`;
    const response = await this.request("POST", path, { ...call, query: { version, format: "ndjson", numbers: "text" }, body: query });
    for await (const line of lines(response)) yield parse(line) as Row;
  }

  async *#typed(feed: string | DataFeed, what: string, query: Record<string, unknown>, call: CallOptions): AsyncGenerator<Row, void, undefined> {
    const record = typeof feed === "string" ? await this.getDataFeed({ path: { id: feed }, ...call }) : feed;
    const number = columnReader(record.columns);
    const path = `/data_feeds/${encodeURIComponent(record.id)}/${what}`;
    const response = await this.request("GET", path, { ...call, query: { ...query, format: "ndjson" } });
    for await (const line of lines(response)) yield parseRow(line, number, what === "changes") as Row;
  }
}

/** Converts numbers by the types of their columns. A text stays a text, whatever the type of the column is now. */
function columnReader(columns: DataFeed["columns"]): NumberReader {
  const types = new Map(columns.map((column) => [column.name, column.type]));
  return (text, key) => {
    switch (key === undefined ? undefined : types.get(key)) {
      case "integer":
        return /^-?\d+$/.test(text) ? BigInt(text) : text;
      case "decimal":
        return text;
      case "number":
        return Number(text);
    }
    return readExact(text);
  };
}

type AnyArguments = RequestOptions & { path?: Record<string, unknown> };

for (const [id, [method, path, kind]] of Object.entries(operationTable)) {
  const target = (parameters: Record<string, unknown> | undefined) =>
    path.replace(/\{(\w+)\}/g, (_, name: string) => {
      const value = parameters?.[name];
      if (value === undefined || value === "") throw new TypeError(`path.${name} is required`);
      return encodeURIComponent(String(value));
    });
  const list = async function* (this: Client, { path, ...options }: AnyArguments = {}) {
    let page = await this.call(method, target(path), options);
    for (;;) {
      yield* page.data as unknown[];
      if (page.next === undefined) return;
      page = await this.call(method, page.next, { ...options, query: {} });
    }
  };
  const call = async function (this: Client, { path, ...options }: AnyArguments = {}) {
    if (kind === "raw") return this.request(method, target(path), options);
    return (await this.call(method, target(path), options)).data;
  };
  Object.defineProperty(Client.prototype, id, { value: kind === "list" ? list : call, writable: true, configurable: true });
}
