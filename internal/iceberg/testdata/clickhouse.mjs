// Reads snapshots of an Iceberg table with ClickHouse and prints the rows of each as JSON.
//
// Usage: node clickhouse.mjs NODE_MODULES TABLE_FOLDER
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join } from 'node:path'

const [modules, folder] = process.argv.slice(2)
process.chdir(join(folder, '..')) // ClickHouse reads files below its folder only
const { query } = createRequire(join(modules, 'x'))('chdb')
const file = readdirSync(join(folder, 'metadata')).filter(name => name.endsWith('.metadata.json')).sort().at(-1)
const all = {}
const metadata = JSON.parse(readFileSync(join(folder, 'metadata', file)))
for (const snapshot of metadata.snapshots) {
  // The current snapshot is read with the current schema, and others with their own.
  const at = snapshot['snapshot-id'] === metadata['current-snapshot-id'] ? '' : `iceberg_snapshot_id = ${snapshot['snapshot-id']}, `
  const rows = query(`SELECT * FROM icebergLocal('${basename(folder)}/') SETTINGS ${at}max_threads = 1, date_time_output_format = 'iso', output_format_json_quote_64bit_integers = 0`, 'JSONEachRow')
  all[snapshot.summary['feedmill.version']] = rows.split('\n').filter(line => line).map(line => JSON.parse(line))
}
process.stdout.write(JSON.stringify(all))
