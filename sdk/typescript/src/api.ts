import type { operations } from "./openapi.js";
import type { operationTable } from "./operations.js";
import type { CallOptions, Upload } from "./transport.js";

type Table = typeof operationTable;

/** The JSON of a successful response, without the envelope. */
type Unwrapped<J> = J extends { data: infer D; meta: unknown } ? D : J;
type Json<R> = {
  [S in keyof R]: S extends 200 | 201 | 202 | 207 ? (R[S] extends { content: { "application/json": infer J } } ? Unwrapped<J> : never) : never;
}[keyof R];

type BodyOf<C> =
  | (C extends { "application/octet-stream": unknown } ? Upload | object : C extends { "application/json": infer J } ? J : never)
  | (C extends { "application/yaml": unknown } ? string : never)
  | (C extends { "application/cloudevents+json": infer J } ? J : never);

type BodyArgument<O> = O extends { requestBody: { content: infer C } }
  ? { body: BodyOf<C> }
  : O extends { requestBody?: infer B }
    ? [NonNullable<B>] extends [never]
      ? { body?: never }
      : NonNullable<B> extends { content: infer C }
        ? { body?: BodyOf<C> }
        : { body?: never }
    : { body?: never };

/** The arguments of an operation: `path`, `query` and `body` as the API defines them. */
export type Arguments<Id extends keyof operations> = Pick<operations[Id]["parameters"], "path" | "query"> &
  BodyArgument<operations[Id]> &
  CallOptions;

type Result<Id extends keyof operations & keyof Table> = Table[Id][2] extends "list"
  ? AsyncGenerator<Json<operations[Id]["responses"]> extends (infer Item)[] ? Item : never, void, undefined>
  : Promise<Table[Id][2] extends "none" ? void : Table[Id][2] extends "raw" ? Response : Json<operations[Id]["responses"]>>;

type Method<Id extends keyof operations & keyof Table> =
  {} extends Arguments<Id> ? (args?: Arguments<Id>) => Result<Id> : (args: Arguments<Id>) => Result<Id>;

/** A method for each operation of the API, named like its operation ID. */
export type Api = { [Id in keyof operations & keyof Table]: Method<Id> };
