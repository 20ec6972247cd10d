// Package feedmill is the domain of the service: the types that every other
// package speaks in and the pure rules that hold between them.
//
// It imports the standard library and a few small general packages, and does no
// input or output. Everything that touches a disk, a socket or a clock lives below
// internal/ and imports this package; nothing here knows of it. Start with [Workspace], the tenant
// that every record belongs to, and with [Error], the one shape in which a
// refusal travels from the rule that was broken to the client that broke it.
//
// The files tell the story in this order:
//
//   - Everybody: id.go, errors.go, explain.go, workspace.go, key.go (who asks and what they
//     may), signin.go (people in browsers), portal.go (customers without a key), audit.go, idempotency.go, secret.go,
//     definition.go (the names in configuration files).
//   - From an event to its outcome: catalogue.go, event.go, gateway.go (what is
//     public of the data sources), subscription.go, consent.go, filter.go (what expressions of subscriptions decide), destination.go (where deliveries go, and what an attempt means), delivery.go, undelivered.go, batch.go (arrays of events), retry.go (when an
//     attempt is made again, and when a subscription is given up), health.go,
//     replay.go, replica.go, store.go, backup.go.
//   - A feed and its data: feed.go, feed_type.go, feed_list.go, feed_request.go, reading.go
//     (formats, options and findings), column.go, column_change.go,
//     column_trial.go, column_read.go, version.go, expect.go, check.go, link.go, table.go,
//     table_name.go.
//   - Where data comes from: source.go, fetch.go, schedule.go, refresh.go, run.go,
//     run_request.go, parent.go, lineage.go, rules.go (which version of the rules a definition keeps).
//   - Queries, and what they run on: query.go, query_join.go, query_where.go, query_computed.go, pins.go, service.go, connection.go, connection_tls.go,
//     sqlview.go.
package feedmill
