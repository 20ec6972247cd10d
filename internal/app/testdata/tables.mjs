// Reads all snapshots of a table with icebird or ClickHouse and prints the rows of each as
// JSON, by the version of the feed. Integers and decimals are texts.
//
// Usage: node tables.mjs icebird|clickhouse NODE_MODULES METADATA_FILE
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const [reader, modules, file] = process.argv.slice(2)
const metadata = JSON.parse(readFileSync(file))
const fieldsOf = snapshot => metadata.schemas.find(s => s['schema-id'] === (snapshot['snapshot-id'] === metadata['current-snapshot-id'] ? metadata['current-schema-id'] : snapshot['schema-id'])).fields

async function openIcebird() {
  const { icebergRead } = await import(pathToFileURL(join(modules, 'icebird/src/index.js')))
  console.warn = () => {} // of the logical type of maps, which it reads as lists
  globalThis.fetch = async (url, init) => {
    let bytes = readFileSync(fileURLToPath(url))
    const range = /bytes=(\d+)-(\d*)/.exec(new Headers(init?.headers).get('range') ?? '')
    if (range) bytes = bytes.subarray(Number(range[1]), range[2] ? Number(range[2]) + 1 : undefined)
    return new Response(bytes, { status: range ? 206 : 200 })
  }
  return snapshot => icebergRead({ tableUrl: metadata.location, metadata: { ...metadata, 'current-snapshot-id': snapshot['snapshot-id'], 'current-schema-id': snapshot['schema-id'] } })
}

async function openClickHouse() {
  const folder = fileURLToPath(metadata.location)
  process.chdir(join(folder, '..')) // ClickHouse reads files below its folder only
  const { query } = createRequire(join(modules, 'x'))('chdb')
  return snapshot => {
    const at = snapshot['snapshot-id'] === metadata['current-snapshot-id'] ? '' : `iceberg_snapshot_id = ${snapshot['snapshot-id']}, `
    const rows = query(`SELECT * FROM icebergLocal('${basename(folder)}/') SETTINGS ${at}max_threads = 1, date_time_output_format = 'iso',
      output_format_json_quote_64bit_integers = 1, output_format_json_quote_decimals = 1`, 'JSONEachRow')
    return rows.split('\n').filter(line => line).map(line => JSON.parse(line))
  }
}

const read = reader === 'icebird' ? await openIcebird() : await openClickHouse()
const all = {}
for (const snapshot of metadata.snapshots) {
  const rows = await read(snapshot)
  all[snapshot.summary['feedmill.version']] = { fields: fieldsOf(snapshot), rows: rows.map(row => fieldsOf(snapshot).map(f => row[f.name] ?? null)) }
}
process.stdout.write(JSON.stringify(all, (_, value) => typeof value === 'bigint' ? String(value) : value))
