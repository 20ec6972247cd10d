import { FeedmillError } from "./errors.js";
import { parse } from "./json.js";

/** A request is not a valid delivery. No message contains a secret. */
export class WebhookError extends FeedmillError {}
/** A text is not a signing secret. */
export class SecretError extends WebhookError {}
/** The request is not signed, or not with one of the secrets. */
export class SignatureError extends WebhookError {}
/** The signature is valid, but its time is too far from now: a replayed request, or a wrong clock. */
export class TimestampError extends WebhookError {}
/** The request does not have the form of a delivery. */
export class MalformedError extends WebhookError {}

/** The event of a delivery. */
export interface WebhookEvent {
  readonly id: string;
  readonly type: string;
  readonly timestamp: Date;
  /** The resource that the event is about; empty if there is none. */
  readonly resourceId: string;
  /** The data of the publisher. A number that JavaScript would round is a `bigint` or an `ExactNumber`. */
  readonly data: unknown;
  /** The ID of the delivery. It is the same for all attempts, so use it to skip duplicates. */
  readonly delivery: string;
  /** The number of the attempt, from 1; 0 if unknown. It is not signed. */
  readonly attempt: number;
  /** The signed text. */
  readonly payload: string;
}

export interface WebhookOptions {
  /** The maximum difference between the time of the signature and now, in seconds. Default is 300; `null` turns the check off. */
  tolerance?: number | null;
  /**
   * Accepts a request that has `x-service-signature` and no Standard Webhooks header. Such a request can be replayed at
   * any time.
   */
  acceptPlain?: boolean;
  /** The current time in milliseconds. Default is `Date.now()`. */
  now?: number;
}

export type WebhookHeaders = Headers | Record<string, string | readonly string[] | undefined>;

/**
 * Verifies a delivery and returns its event.
 *
 * `payload` is the body of a POST, byte for byte, or the result of `queryPayload` for a GET.
 * During a rotation, pass the old and the new secret; their order makes no difference.
 */
export async function verifyWebhook(
  payload: string | Uint8Array,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  options: WebhookOptions = {},
): Promise<WebhookEvent> {
  const keys = (typeof secrets === "string" ? [secrets] : secrets).map((secret) => ({ text: secret, bytes: secretBytes(secret) }));
  if (keys.length === 0) throw new SecretError("at least one signing secret is required");
  const given = headerReader(headers);
  const bytes = typeof payload === "string" ? new TextEncoder().encode(payload) : payload;
  let delivery = given("webhook-id");
  const [timestamp, signatures] = [given("webhook-timestamp"), given("webhook-signature")];
  if (delivery || timestamp || signatures) {
    const signed = joined(new TextEncoder().encode(`${delivery}.${timestamp}.`), bytes);
    const wanted = await Promise.all(keys.map(async (key) => "v1," + base64(await mac(key.bytes, signed))));
    if (!anyEqual(signatures.split(" "), wanted)) throw new SignatureError("webhook-signature does not match any of the secrets");
    checkTime(timestamp, options);
  } else {
    if (!options.acceptPlain) throw new SignatureError("the request must have webhook-id, webhook-timestamp and webhook-signature");
    const wanted = await Promise.all(keys.map(async (key) => hex(await mac(new TextEncoder().encode(key.text), bytes))));
    if (!anyEqual([given("x-service-signature"), given("x-service-signature-next")], wanted)) {
      throw new SignatureError("x-service-signature does not match any of the secrets");
    }
    delivery = given("x-service-delivery");
  }
  return eventOf(bytes, delivery, given("x-service-attempt"));
}

/** Returns the payload of a GET delivery from the query of its URL, still percent-encoded. */
export function queryPayload(query: string): string {
  const text = "&" + query.replace(/^\?/, "");
  const start = text.lastIndexOf("&payload=");
  if (start < 0) throw new MalformedError("the query parameter payload is missing");
  const [value = ""] = text.slice(start + "&payload=".length).split("&");
  try {
    return decodeURIComponent(value.replaceAll("+", " "));
  } catch (error) {
    throw new MalformedError("the query parameter payload is not percent-encoded", { cause: error });
  }
}

function headerReader(headers: WebhookHeaders): (name: string) => string {
  if (headers instanceof Headers) return (name) => headers.get(name) ?? "";
  const given = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return (name) => {
    const value = given.get(name) ?? "";
    return typeof value === "string" ? value : (value[0] ?? "");
  };
}

function secretBytes(secret: string): Uint8Array {
  if (!secret.startsWith("whsec_")) throw new SecretError("a signing secret must start with whsec_");
  const encoded = secret.slice("whsec_".length);
  let bytes: Uint8Array = new Uint8Array();
  try {
    bytes = Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0));
  } catch {
    // The comparison below refuses it.
  }
  if (bytes.length === 0 || base64(bytes) !== encoded) throw new SecretError("the part of the signing secret after whsec_ must be base64");
  return bytes;
}

async function mac(key: Uint8Array, text: Uint8Array): Promise<Uint8Array> {
  const imported = await crypto.subtle.importKey("raw", key as BufferSource, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", imported, text as BufferSource));
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const whole = new Uint8Array(first.length + second.length);
  whole.set(first);
  whole.set(second, first.length);
  return whole;
}

const base64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes));
const hex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

function anyEqual(given: readonly string[], wanted: readonly string[]): boolean {
  return given.map((one) => wanted.map((other) => equal(one, other)).includes(true)).includes(true);
}

/** Compares in a time that does not depend on how much of the text is right. */
function equal(given: string, wanted: string): boolean {
  let difference = given.length ^ wanted.length;
  for (let i = 0; i < wanted.length; i++) difference |= wanted.charCodeAt(i) ^ (i < given.length ? given.charCodeAt(i) : 0);
  return difference === 0;
}

function checkTime(timestamp: string, options: WebhookOptions): void {
  if (!/^-?\d+$/.test(timestamp)) throw new MalformedError("webhook-timestamp must be a number of seconds");
  const off = (options.now ?? Date.now()) / 1000 - Number(timestamp);
  const tolerance = options.tolerance === undefined ? 300 : options.tolerance;
  if (tolerance !== null && Math.abs(off) > tolerance) {
    throw new TimestampError(`webhook-timestamp is ${Math.round(off)} s before now; the maximum is ${tolerance} s`);
  }
}

function eventOf(bytes: Uint8Array, delivery: string, attempt: string): WebhookEvent {
  const refusal = "the payload must be JSON with id, type, timestamp and data";
  let payload: string;
  let event: Record<string, unknown>;
  try {
    payload = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    event = Object(parse(payload));
  } catch (error) {
    throw new MalformedError(refusal, { cause: error });
  }
  const { id, type, timestamp, resourceId, data } = event;
  const at = new Date(typeof timestamp === "string" ? timestamp : NaN);
  if (typeof id !== "string" || typeof type !== "string" || Number.isNaN(at.getTime()) || data === undefined) throw new MalformedError(refusal);
  return {
    id, type, timestamp: at, resourceId: typeof resourceId === "string" ? resourceId : "", data, delivery,
    attempt: /^\d{1,9}$/.test(attempt) ? Number(attempt) : 0, payload,
  };
}
