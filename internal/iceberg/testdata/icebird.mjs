// Reads snapshots of an Iceberg table with icebird and prints the rows of each as JSON.
//
// Usage: node icebird.mjs NODE_MODULES TABLE_URL METADATA_FILE
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const [modules, tableUrl, metadataFileName] = process.argv.slice(2)
const { icebergMetadata, icebergRead } = await import(pathToFileURL(join(modules, 'icebird/src/index.js')))
console.warn = () => {} // of the logical type of maps, which it reads as lists

const metadata = await icebergMetadata({ tableUrl, metadataFileName })
const all = {}
for (const snapshot of metadata.snapshots) {
  const at = { ...metadata, 'current-snapshot-id': snapshot['snapshot-id'], 'current-schema-id': snapshot['schema-id'] }
  const rows = await icebergRead({ tableUrl, metadata: at })
  all[snapshot.summary['feedmill.version']] = rows.map(row => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value ?? null])))
}
process.stdout.write(JSON.stringify(all, (_, value) => typeof value === 'bigint' ? Number(value) : value))
