// Package manifest makes services of HTTP APIs. A manifest is a YAML file that
// says where an API is, what a connection to it needs, and which views it has,
// with their requests, records and fields. It is compiled to the definitions of
// REST feeds, which fetch, and to the tables of the query builder, which ask.
//
// Nothing of an API's own meaning is trusted with the result: what a view passes
// on to the API only makes the answer smaller, and every filter is tested again
// here.
package manifest
