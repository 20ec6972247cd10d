package main

// manifests are an operator's own, in the folder of services.
var manifests = map[string]string{"crm.yaml": `service: crm
title: A customer register
baseUrl: "http://{{config.account}}.test/v1"
config:
  account: {title: Account, default: query-manifest}
response: {path: "$.data[*]"}
pagination: {kind: cursor, path: $.next, param: after}
views:
  people:
    title: People
    request: {path: people, query: {limit: "100"}}
    key: [id]
    incremental: {field: updated_at}
    fields:
      id: {type: integer}
      state: {filters: {eq: {param: state, values: [open, paid]}}}
      city: {path: $.address.city}
      total: {type: decimal}
      updated_at: {type: timestamp, filters: {from: {param: updated_since}}}
`, "erp.yaml": `service: erp
title: Planning
baseUrl: "http://query-manifest-grouped.test"
response: {path: "$.rows[*]"}
views:
  parts:
    request: {path: parts}
    fields:
      kind: {}
      stock: {type: integer}
      weight: {type: decimal}
`}

// orders fill the table of a database.
var (
	firstOrders = []string{
		`CREATE TABLE @T (id integer PRIMARY KEY, status varchar(20), total decimal(12,2), placed timestamp NULL, note text)`,
		`INSERT INTO @T VALUES (1, 'paid', 10.50, '2024-01-01 10:00:00', 'a'), (2, 'open', 20.00, '2024-01-02 10:00:00', NULL), (3, 'paid', 0.10, NULL, ''), (4, 'Paid', 1234567890.12, '2024-01-03 10:00:00', 'ä')`,
	}
	secondOrders = []string{
		`UPDATE @T SET status = 'paid', placed = '2024-02-01 10:00:00' WHERE id = 2`,
		`INSERT INTO @T VALUES (5, 'paid', 7.00, '2024-02-02 10:00:00', 'b'), (6, 'open', 8.25, NULL, 'c')`,
		`DELETE FROM @T WHERE id = 1`,
	}
)

// onOrders is a scenario over that table.
func onOrders(name, service, query string) scenario {
	return scenario{
		name: name, since: lastRelease, service: service, definition: `{"serviceName":"` + service + `","viewName":"@T",` + query + `}`,
		steps: []step{{sql: firstOrders}, {}, {sql: secondOrders}},
	}
}

const (
	allFields   = `"query":{"fields":[{"field":"id"},{"field":"status"},{"field":"total"},{"field":"placed"},{"field":"note"}],"sort":[{"field":"id"}]}`
	filtered    = `"query":{"fields":[{"field":"id"},{"field":"total","filters":[{"op":"gte","values":[1]}]},{"field":"status","select":false,"filters":[{"op":"eq","values":["paid"]}]},{"field":"note","as":"remark","filters":[{"op":"isNull","values":[],"inverted":true}]}],"sort":[{"field":"total","order":"desc"}],"limit":3}`
	grouped     = `"query":{"fields":[{"field":"status"},{"field":"total","aggregate":[{"fn":"sum","as":"sum"},{"fn":"avg","as":"mean"}]},{"field":"id","aggregate":"count","as":"n"}],"sort":[{"field":"n","order":"desc"},{"field":"status"}]}`
	searched    = `"query":{"fields":[{"field":"id"},{"field":"note","filters":[{"op":"contains","values":["A","b"]},{"op":"isEmpty","values":[]}],"filterOption":"any"},{"field":"placed","select":false,"filters":[{"op":"between","values":["2024-01-01","2024-02-02"]},{"op":"isNull","values":[]}],"filterOption":"any"},{"field":"status","select":false,"filters":[{"op":"matches","values":["^p"],"inverted":true},{"op":"startsWith","values":["P"]}],"filterOption":"any"}],"timezone":"Europe/Paris"}`
	incremental = `"query":{"fields":[{"field":"id"},{"field":"status"},{"field":"placed"}]},"incremental":{"field":"placed","lookback":"1h"}`
)

// queryScenarios are those of queries.
var queryScenarios = []scenario{
	onOrders("query-file-all", "file", allFields),
	onOrders("query-file-filtered", "file", filtered),
	onOrders("query-file-grouped", "file", grouped),
	onOrders("query-file-searched", "file", searched),
	onOrders("query-file-merge", "file", incremental+`,"mode":"merge","key":["id"]`),
	onOrders("query-file-append", "file", incremental+`,"mode":"append"`),
	onOrders("query-warehouse-all", "warehouse", allFields),
	onOrders("query-warehouse-filtered", "warehouse", filtered),
	onOrders("query-warehouse-grouped", "warehouse", grouped),
	onOrders("query-warehouse-searched", "warehouse", searched),
	onOrders("query-warehouse-merge", "warehouse", incremental+`,"mode":"merge","key":["id"]`),
	onOrders("query-shop-all", "shop", allFields),
	onOrders("query-shop-filtered", "shop", filtered),
	onOrders("query-shop-grouped", "shop", grouped),
	onOrders("query-shop-searched", "shop", searched),
	onOrders("query-shop-merge", "shop", incremental+`,"mode":"merge","key":["id"]`),
	onOrders("query-lake-all", "lake", allFields),
	onOrders("query-lake-filtered", "lake", filtered),
	onOrders("query-lake-merge", "lake", incremental+`,"mode":"merge","key":["id"]`),
	{
		name: "query-file-types", since: lastRelease, corrected: map[int]string{2: "A sorted column of numbers that becomes text fails the refresh."},
		service: "file", definition: `{"serviceName":"file","viewName":"@T","query":{"fields":[{"field":"id"},{"field":"n"},{"field":"d"},{"field":"v"}],"sort":[{"field":"n"}]}}`,
		steps: []step{
			{sql: []string{`CREATE TABLE @T (id integer, n numeric, d date, v)`, `INSERT INTO @T VALUES (1, 5, '2024-01-01', 'x'), (2, 7, '2024-01-02', NULL)`}},
			{sql: []string{`INSERT INTO @T VALUES (3, 6.5, '2024-01-03', 7)`}},
			{sql: []string{`INSERT INTO @T VALUES (4, 'many', 'someday', x'00ff')`}},
		},
	},
	{
		name: "query-warehouse-types", since: lastRelease, service: "warehouse", definition: `{"serviceName":"warehouse","viewName":"sales.@T","query":{"fields":[{"field":"id"},{"field":"exact"},{"field":"wide"},{"field":"doc"},{"field":"local"},{"field":"tags"}],"sort":[{"field":"wide","order":"desc"}]}}`,
		steps: []step{
			{sql: []string{
				`CREATE SCHEMA sales`, `CREATE TABLE sales.@T (id bigint, exact numeric(10,3), wide numeric, doc jsonb, local timestamp, tags text[])`, `CREATE TABLE public.@T (id text)`,
				`INSERT INTO sales.@T VALUES (1, 1.500, 12345678901234567890123456789012345678901234567890.12345, '{"a":1}', '2024-01-01 10:00', '{a,b}'), (2, 2, 1.50, NULL, NULL, NULL)`,
			}},
			{sql: []string{`INSERT INTO sales.@T VALUES (3, 3.25, 99999999999999999999999999999999999999.9, '[1,2]', '2024-07-01 10:00:00.123456', '{}')`}},
			{sql: []string{`ALTER TABLE sales.@T ALTER id TYPE numeric(20,5)`}},
		},
	},
	{
		name: "query-feeds", since: lastRelease, definition: `{"serviceName":"feeds","viewName":"PARENT","query":{"fields":[{"field":"shop"},{"field":"total","aggregate":"sum","as":"sum","filters":[{"op":"gt","values":[1]}]}],"sort":[{"field":"sum","order":"desc"}]}}`,
		steps: []step{
			{parent: "shop,total,day\nOslo,10.5,2024-01-01\nMoss,20,2024-01-02\nOslo,0.5,2024-01-03\n"},
			{parent: "shop,total,day\nOslo,11.5,2024-01-01\nMoss,2,2024-01-02\nOslo,7,2024-01-03\n"},
		},
	},
	{
		name: "query-feeds-filtered", since: lastRelease, definition: `{"serviceName":"feeds","viewName":"PARENT","query":{"fields":[{"field":"shop","filters":[{"op":"startsWith","values":["o"]}]},{"field":"day"},{"field":"total","select":false,"filters":[{"op":"between","values":[1,100]}]}],"limit":2}}`,
		steps: []step{
			{parent: "shop,total,day\nOslo,10.5,2024-01-01\nMoss,20,2024-01-02\noslo,5,2024-01-03\n"},
			{parent: "shop,total,day\nOslo,11.5,2024-01-01\nMoss,2,2024-01-02\nOslo,700,2024-01-03\n"},
		},
	},
	{
		name: "query-manifest", since: lastRelease, definition: `{"serviceName":"crm","viewName":"people","query":{"fields":[{"field":"id"},{"field":"city"},{"field":"total"},{"field":"updated_at"},{"field":"state","select":false,"filters":[{"op":"eq","values":["paid"]}]}]},"incremental":{"field":"updated_at"},"mode":"merge","key":["id"]}`,
		steps: []step{
			{source: map[string]string{
				"/v1/people?limit=100&state=paid":         `{"data":[{"id":1,"state":"paid","address":{"city":"Oslo"},"total":1.50,"updated_at":"2024-01-01T00:00:00Z"},{"id":2,"state":"open","total":2,"updated_at":"2024-01-02T00:00:00Z"}],"next":"b"}`,
				"/v1/people?limit=100&state=paid&after=b": `{"data":[{"id":3,"state":"paid","address":{},"total":3,"updated_at":"2024-01-03T00:00:00Z"}]}`,
			}},
			{source: map[string]string{
				"/v1/people?limit=100&state=paid&updated_since=2024-01-03T00%3A00%3A00Z": `{"data":[{"id":3,"state":"paid","address":{"city":"Moss"},"total":4,"updated_at":"2024-01-04T00:00:00Z"}]}`,
			}},
		},
	},
	{
		name: "query-warehouse-names", since: lastRelease, service: "warehouse", definition: `{"serviceName":"warehouse","viewName":"odd.name","query":{"fields":[{"field":"a.b"},{"field":"It's"},{"field":"Case"}],"sort":[{"field":"a.b","order":"desc"}]},"mode":"merge","key":["a.b"]}`,
		steps: []step{
			{sql: []string{`CREATE TABLE "odd.name" ("a.b" int, "It's" text, "Case" boolean)`, `INSERT INTO "odd.name" VALUES (1, 'x', true), (2, NULL, NULL)`}},
			{sql: []string{`UPDATE "odd.name" SET "It's" = 'y' WHERE "a.b" = 2`, `INSERT INTO "odd.name" VALUES (3, 'z', false)`}},
		},
	},
	{
		name: "query-feeds-incremental", since: lastRelease, definition: `{"serviceName":"feeds","viewName":"PARENT","query":{"fields":[{"field":"id"},{"field":"day"},{"field":"n"}]},"incremental":{"field":"day"},"mode":"merge","key":["id"]}`,
		steps: []step{
			{parent: "id,day,n\n1,2024-01-01,1\n2,2024-01-02,2\n"},
			{parent: "id,day,n\n1,2024-01-01,9\n2,2024-01-02,7\n3,2024-01-03,3\n"},
		},
	},
	{
		name: "query-manifest-grouped", since: lastRelease, corrected: map[int]string{1: "A filter value with more digits than the data failed the refresh."},
		definition: `{"serviceName":"erp","viewName":"parts","query":{"fields":[{"field":"kind"},{"field":"stock","aggregate":"sum","as":"sum"},{"field":"weight","select":false,"filters":[{"op":"lt","values":[10]}]}],"sort":[{"field":"kind"}]}}`,
		steps: []step{
			{source: map[string]string{"/parts": `{"rows":[{"kind":"a","stock":1,"weight":1.5},{"kind":"b","stock":2,"weight":20},{"kind":"a","stock":3,"weight":"2"}]}`}},
			{source: map[string]string{"/parts": `{"rows":[{"kind":"a","stock":5,"weight":1.5},{"kind":"c","stock":7,"weight":null},{"kind":"b","stock":"2","weight":9}]}`}},
		},
	},
}
