// Reads Parquet files with hyparquet and Arrow streams with apache-arrow, and prints what
// they find as JSON: the columns and the rows of each file. Values are texts without loss:
// decimals without their point, dates in days, timestamps in microseconds, numbers as the
// bits of a double.
//
// Usage: node readers.mjs NODE_MODULES FILE...
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const [modules, ...files] = process.argv.slice(2)
const load = file => import(pathToFileURL(join(modules, file)))
const { asyncBufferFromFile, parquetMetadataAsync, parquetRead } = await load('hyparquet/src/node.js')
const { compressors } = await load('hyparquet-compressors/src/index.js')
const { tableFromIPC, Type } = createRequire(join(modules, 'x'))('apache-arrow')

const bits = new DataView(new ArrayBuffer(8))
function text(value, isDouble) {
  if (value === null || value === undefined) return null
  if (isDouble) {
    bits.setFloat64(0, value)
    return bits.getBigUint64(0).toString(16)
  }
  if (value instanceof Uint8Array) { // the highest byte first
    const digits = BigInt('0x' + Buffer.from(value).toString('hex'))
    return BigInt.asIntN(8 * value.length, digits).toString()
  }
  return String(value)
}

async function readParquet(path) {
  const file = await asyncBufferFromFile(path)
  const metadata = await parquetMetadataAsync(file)
  const columns = metadata.schema.slice(1)
  const fields = columns.map(c => ({
    name: c.name, id: c.field_id ?? 0, physical: c.type, length: c.type_length ?? 0, converted: c.converted_type ?? '', precision: c.precision ?? 0, scale: c.scale ?? 0,
  }))
  // The reader rounds decimals and timestamps to its own types, so it is asked for what is stored.
  for (const c of columns) {
    delete c.converted_type
    delete c.logical_type
  }
  const rows = []
  await parquetRead({ file, metadata, compressors, rowFormat: 'array', onComplete: read => rows.push(...read) })
  return { fields, rows: rows.map(row => row.map((value, i) => text(value, columns[i].type === 'DOUBLE'))) }
}

async function readArrow(path) {
  const table = tableFromIPC(await readFile(path))
  const fields = table.schema.fields.map(f => ({ name: f.name, precision: f.type.precision ?? 0, scale: f.type.scale ?? 0 }))
  const rows = Array.from({ length: table.numRows }, () => [])
  fields.forEach((_, i) => {
    let row = 0
    for (const chunk of table.getChildAt(i).data) {
      for (let at = 0; at < chunk.length; at++) rows[row++].push(chunk.getValid(at) ? arrowText(table.getChildAt(i), chunk, at, row - 1) : null)
    }
  })
  return { fields, rows }
}

function arrowText(vector, chunk, at, row) {
  switch (vector.type.typeId) {
    case Type.Int: case Type.Date: case Type.Timestamp: return text(chunk.values[at])
    case Type.Float: return text(chunk.values[at], true)
    case Type.Decimal: {
      const words = chunk.values.slice(4 * at, 4 * at + 4)
      return text(new Uint8Array(words.buffer).reverse())
    }
  }
  return text(vector.get(row))
}

const all = []
for (const file of files) all.push(await (file.endsWith('.parquet') ? readParquet : readArrow)(file))
process.stdout.write(JSON.stringify(all))
