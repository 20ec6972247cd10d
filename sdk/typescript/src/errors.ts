/** The base class of all errors of the package. */
export class FeedmillError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The server did not respond, or the connection failed before the end of the response. */
export class TransportError extends FeedmillError {}

/** One part of a request that is not valid. */
export interface Fault {
  readonly detail: string;
  /** A JSON Pointer into the body. */
  readonly pointer?: string;
  readonly parameter?: string;
  readonly header?: string;
}

/** A problem document (RFC 9457). */
export interface ProblemDocument {
  readonly type?: string;
  readonly title?: string;
  readonly detail?: string;
  readonly requestId?: string;
  readonly errors?: readonly Fault[];
  readonly [member: string]: unknown;
}

/** A problem document that the server returned. */
export class ApiError extends FeedmillError {
  readonly status: number;
  /** The stable type, such as `/problems/not-found`. */
  readonly type: string;
  readonly title: string;
  readonly detail: string;
  /** Every fault of the request, with its position. */
  readonly errors: readonly Fault[];
  /** The ID to report to the operator. Only 5xx responses have one. */
  readonly requestId: string | undefined;
  /** The seconds to wait before a retry, if the server set them. */
  readonly retryAfter: number | undefined;
  /** The whole problem document. */
  readonly document: ProblemDocument;

  constructor(status: number, document: ProblemDocument, retryAfter?: number) {
    const faults = document.errors ?? [];
    const lines = [`${document.title} (${status}): ${document.detail}`];
    for (const f of faults) lines.push(`${f.pointer ?? f.parameter ?? f.header ?? ""}: ${f.detail}`);
    if (document.requestId) lines.push(`request ID: ${document.requestId}`);
    super(lines.join("\n  "));
    this.status = status;
    this.document = document;
    this.type = document.type ?? "about:blank";
    this.title = document.title ?? "";
    this.detail = document.detail ?? "";
    this.errors = faults;
    this.requestId = document.requestId;
    this.retryAfter = retryAfter;
  }

  /** The last part of `type`, such as `not-found`. */
  get kind(): string {
    return this.type.slice(this.type.lastIndexOf("/") + 1);
  }
}

/** 400: the request is not valid. `errors` lists every fault. */
export class InvalidRequestError extends ApiError {}
/** 401: the credential is missing or not valid. */
export class UnauthenticatedError extends ApiError {}
/** 403: the credential lacks a scope. */
export class ForbiddenError extends ApiError {}
/** 404: the resource does not exist in this workspace. */
export class NotFoundError extends ApiError {}
/** 409: the request conflicts with the state of the resource, or a quota is reached. */
export class ConflictError extends ApiError {}
/** 410: the version is no longer stored. */
export class GoneError extends ApiError {}
/** 413: the request is too large. */
export class TooLargeError extends ApiError {}
/** 415: the format is not supported. */
export class UnsupportedFormatError extends ApiError {}
/** 422: the data cannot be modelled. */
export class UnprocessableError extends ApiError {}
/** 429: too many requests. `retryAfter` has the seconds to wait. */
export class RateLimitedError extends ApiError {}
/** 5xx: the server failed. `requestId` identifies the request in its log. */
export class ServerError extends ApiError {}

const byStatus: Record<number, typeof ApiError> = {
  400: InvalidRequestError,
  401: UnauthenticatedError,
  403: ForbiddenError,
  404: NotFoundError,
  409: ConflictError,
  410: GoneError,
  413: TooLargeError,
  415: UnsupportedFormatError,
  422: UnprocessableError,
  429: RateLimitedError,
};

/** Returns the error for a status. A response that is not a problem document is from another server. */
export function apiError(status: number, document: unknown, retryAfter?: number): ApiError {
  const known = typeof document === "object" && document !== null && typeof (document as ProblemDocument).title === "string";
  const problem: ProblemDocument = known
    ? (document as ProblemDocument)
    : { title: "Unexpected response", detail: "The response is not from Feedmill. Check the server's address." };
  return new (byStatus[status] ?? (status >= 500 ? ServerError : ApiError))(status, problem, retryAfter);
}
