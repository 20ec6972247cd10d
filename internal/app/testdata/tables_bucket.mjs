// Counts the rows of a table in a bucket with ClickHouse: by its location, and through the
// catalogue. Prints both results as JSON.
//
// Usage: node tables_bucket.mjs NODE_MODULES S3_URL TABLE_URL ACCESS_KEY SECRET_KEY CATALOGUE API_KEY TABLE
import { createRequire } from 'node:module'
import { join } from 'node:path'

const [modules, s3, location, access, secret, catalogue, key, table] = process.argv.slice(2)
const { Session } = createRequire(join(modules, 'x'))('chdb')
const session = new Session()
const ask = text => session.query(text, 'JSONCompactEachRow')
const select = 'SELECT toString(count()), toString(sum(total)) FROM '
const found = [JSON.parse(ask(`${select} icebergS3('${location}/', '${access}', '${secret}')`))]
ask('SET allow_database_iceberg = 1')
ask(`CREATE DATABASE feedmill ENGINE = DataLakeCatalog('${catalogue}', '${access}', '${secret}')
  SETTINGS catalog_type = 'rest', auth_header = 'Authorization: Bearer ${key}', storage_endpoint = '${s3}', warehouse = 'any', vended_credentials = false`)
found.push(JSON.parse(ask(`${select} feedmill.\`${table}\``)))
session.cleanup()
process.stdout.write(JSON.stringify(found))
