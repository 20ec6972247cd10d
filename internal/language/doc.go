// Package language holds the tests of what people read: pages, help, errors, warnings, log
// lines, the OpenAPI document and the documentation.
package language
