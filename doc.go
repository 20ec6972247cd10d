// Package feedmill is the domain of the service: the types that every other
// package speaks in and the pure rules that hold between them.
//
// It imports the standard library only and does no input or output. Everything
// that touches a disk, a socket or a clock lives below internal/ and imports
// this package; nothing here knows of it. Start with [Workspace], the tenant
// that every record belongs to, and with [Error], the one shape in which a
// refusal travels from the rule that was broken to the client that broke it.
package feedmill
