// Reads Parquet files with ClickHouse and prints what it finds as readers.mjs does.
//
// Usage: node clickhouse.mjs NODE_MODULES FILE...
import { createRequire } from 'node:module'
import { join } from 'node:path'

const [modules, ...files] = process.argv.slice(2)
const { query } = createRequire(join(modules, 'x'))('chdb')
const rowsOf = sql => query(sql, 'JSONCompactStringsEachRow').split('\n').filter(line => line).map(line => JSON.parse(line))

// exact is an expression without loss for a value of a type.
function exact(column, type) {
  const name = '`' + column.replaceAll('`', '\\`') + '`'
  if (type.startsWith('DateTime64')) return `toString(toUnixTimestamp64Micro(${name}))`
  if (type.startsWith('Date')) return `toString(toInt32(${name}))`
  if (type === 'Float64') return `lower(hex(reinterpretAsUInt64(${name})))`
  const scale = type.match(/^Decimal\(\d+, (\d+)\)$/)?.[1]
  return scale ? `toDecimalString(${name}, ${scale})` : `toString(${name})`
}

// Columns of JSON are read as text, because ClickHouse's own type holds objects only.
const asText = 'input_format_parquet_enable_json_parsing = 0'

const all = []
for (const file of files) {
  const source = `file('${file}', Parquet)`
  const columns = rowsOf(`DESCRIBE ${source} SETTINGS ${asText}`).map(([name, type]) => ({ name, type: type.replace(/^Nullable\((.*)\)$/, '$1') }))
  const decimals = columns.map(c => c.type.match(/^Decimal\((\d+), (\d+)\)$/))
  const selected = columns.map(c => `if(isNull(\`${c.name}\`), 'null', '=' || ${exact(c.name, c.type)})`).join(', ')
  const rows = rowsOf(`SELECT ${selected} FROM ${source} SETTINGS ${asText}, input_format_parquet_preserve_order = 1, max_threads = 1`)
  all.push({
    fields: columns.map((c, i) => ({ name: c.name, precision: Number(decimals[i]?.[1] ?? 0), scale: Number(decimals[i]?.[2] ?? 0) })),
    rows: rows.map(row => row.map((value, i) => {
      if (value === 'null') return null
      const text = value.slice(1)
      if (columns[i].type === 'Float64') return text.replace(/^0+(?=.)/, '')
      return decimals[i] ? BigInt(text.replace('.', '')).toString() : text
    })),
  })
}
process.stdout.write(JSON.stringify(all))
