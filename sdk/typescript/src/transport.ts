import { ApiError, TransportError, apiError } from "./errors.js";
import { parse, stringify } from "./json.js";

/** The data of an upload. A stream is sent only once and never retried. */
export type Upload = string | Uint8Array | Blob | ReadableStream<Uint8Array>;

export interface ClientOptions {
  /** The maximum number of retries of a request. Default is 4. */
  retries?: number;
  /** The maximum time until the response starts, in milliseconds. Default is 60,000. */
  timeout?: number;
  /** A replacement for the global `fetch`. */
  fetch?: typeof fetch;
}

export interface CallOptions {
  /** The media type of a body that is text or bytes. */
  contentType?: string;
  /** The key that makes a POST or PUT safe to repeat. Default is a random key for each call. */
  idempotencyKey?: string;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

export interface RequestOptions extends CallOptions {
  query?: Record<string, unknown>;
  body?: unknown;
}

const firstWait = 250;
const longestWait = 30_000;
const retried = new Set([429, 500, 502, 503, 504]);

/** Sends requests to a server. `Client` is the class to use. */
export class Transport {
  readonly #base: string;
  readonly #key: string;
  readonly #retries: number;
  readonly #timeout: number;
  readonly #fetch: typeof fetch;

  constructor(server: string, key: string, options: ClientOptions = {}) {
    const url = new URL(server);
    if (!/^https?:$/.test(url.protocol) || url.search || url.hash) {
      throw new TypeError("server must be a URL such as https://feedmill.example.com");
    }
    this.#base = server.replace(/\/+$/, "");
    this.#key = key;
    this.#retries = options.retries ?? 4;
    this.#timeout = options.timeout ?? 60_000;
    this.#fetch = options.fetch ?? ((...args) => fetch(...args));
  }

  /**
   * Sends a request and returns its response. Retries 429, 5xx and failed connections where that is safe.
   * Every POST and PUT has an `Idempotency-Key`, so a retry has no second effect. PATCH is not retried.
   */
  async request(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
    const headers: Record<string, string> = { Accept: "application/json" };
    if (this.#key) headers["Authorization"] = `Bearer ${this.#key}`;
    if (method === "POST" || method === "PUT") headers["Idempotency-Key"] = options.idempotencyKey ?? randomKey();
    const body = encoded(options, headers);
    Object.assign(headers, options.headers);
    const init: RequestInit & { duplex?: "half" } = { method, headers, redirect: "error" };
    if (body !== undefined) init.body = body;
    const stream = body instanceof ReadableStream;
    if (stream) init.duplex = "half";
    const tries = method === "PATCH" || stream ? 1 : this.#retries + 1;
    const url = this.#base + path + queryOf(options.query, path.includes("?") ? "&" : "?");
    for (let attempt = 1, wait = firstWait; ; attempt++, wait *= 2) {
      const pause = wait * (0.5 + Math.random() / 2);
      try {
        return await this.#try(url, init, options.signal);
      } catch (error) {
        if (attempt >= tries || options.signal?.aborted) throw error;
        let after = 0;
        if (error instanceof ApiError) {
          const inProgress = error.status === 409 && error.kind === "idempotency-in-progress" && attempt > 1;
          after = (error.retryAfter ?? 0) * 1000;
          if (!(retried.has(error.status) || inProgress) || after > longestWait) throw error;
        } else if (!(error instanceof TransportError)) {
          throw error;
        }
        await delay(Math.max(after, pause), options.signal);
      }
    }
  }

  /** Sends a request and returns the parsed response, without the envelope, and the path of the next page. */
  async call(method: string, path: string, options: RequestOptions = {}): Promise<{ data: unknown; next: string | undefined }> {
    const response = await this.request(method, path, options);
    const next = /<([^>]*)>\s*;[^,]*\brel="?next"?/.exec(response.headers.get("Link") ?? "")?.[1];
    if (response.status === 204) return { data: undefined, next };
    const value = parse(await read(() => response.text(), method, path));
    const enveloped = typeof value === "object" && value !== null && "data" in value && "meta" in value && Object.keys(value).length === 2;
    return { data: enveloped ? value.data : value, next };
  }

  async #try(url: string, init: RequestInit, signal: AbortSignal | undefined): Promise<Response> {
    const name = `${init.method} ${new URL(url).pathname}`;
    const controller = new AbortController();
    const abort = () => controller.abort(signal?.reason);
    if (signal?.aborted) abort();
    signal?.addEventListener("abort", abort, { once: true });
    const timer = setTimeout(() => controller.abort(new Error(`no response within ${this.#timeout} ms`)), this.#timeout);
    let response: Response;
    try {
      response = await this.#fetch(url, { ...init, signal: controller.signal });
    } catch (error) {
      signal?.throwIfAborted();
      throw new TransportError(`${name}: ${messageOf(error)}`, { cause: error });
    } finally {
      clearTimeout(timer);
    }
    if (response.ok) return response;
    let document: unknown;
    try {
      document = parse(await response.text());
    } catch {
      document = undefined;
    }
    throw apiError(response.status, document, retryAfter(response.headers.get("Retry-After")));
  }
}

/** Reads the lines of a response as they arrive. A response that ends too early throws a `TransportError`. */
export async function* lines(response: Response): AsyncGenerator<string, void, undefined> {
  if (!response.body) return;
  const reader = response.body.getReader();
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await read(() => reader.read(), "GET", new URL(response.url).pathname);
      const parts = (rest + decoder.decode(value, { stream: !done })).split("\n");
      rest = parts.pop() ?? "";
      yield* parts;
      if (done) break;
    }
    if (rest !== "") yield rest;
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

async function read<T>(read: () => Promise<T>, method: string, path: string): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new TransportError(`${method} ${path}: the connection failed before the end of the response: ${messageOf(error)}`, { cause: error });
  }
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}

function encoded(options: RequestOptions, headers: Record<string, string>): BodyInit | undefined {
  const { body } = options;
  if (body === undefined) return undefined;
  const raw = typeof body === "string" || body instanceof Uint8Array || body instanceof Blob || body instanceof ReadableStream;
  headers["Content-Type"] = options.contentType ?? (raw ? (body instanceof Blob && body.type) || "application/octet-stream" : "application/json");
  return raw ? (body as BodyInit) : stringify(body);
}

function queryOf(query: Record<string, unknown> | undefined, separator: string): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value === undefined || value === null) continue;
    for (const one of Array.isArray(value) ? value : [value]) parameters.append(name, String(one));
  }
  const text = parameters.toString();
  return text && separator + text;
}

function retryAfter(text: string | null): number | undefined {
  if (!text) return undefined;
  if (/^\d+$/.test(text)) return Number(text);
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max((at - Date.now()) / 1000, 0);
}

function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function delay(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", stop, { once: true });
  });
}
