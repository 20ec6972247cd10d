// Package sdk checks the client libraries for other languages: their generated code
// is that of the OpenAPI document, and their own tests pass.
package sdk
