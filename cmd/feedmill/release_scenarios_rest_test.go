package main

import (
	"maps"
	"slices"
	"strings"
)

func sortedNames[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }

// longName is a name that the first release took in a request, and later ones do
// not take any more.
var longName = strings.Repeat("long", 300)

// restScenarios are those of REST feeds that every release can fetch.
var restScenarios = []scenario{
	{name: "rest-plain", since: firstRelease, definition: `{"name":"Rows","request":{"url":"http://HOST/rows","query":{"a":["1","2"],"b":"x y"},"headers":{"X-Api-Key":"k3y"}}}`, steps: []step{
		{source: map[string]string{"/rows?a=1&a=2&b=x%20y": `[{"id":1,"n":"5"},{"id":2,"n":"6"}]`}},
		{},
		{source: map[string]string{"/rows?a=1&a=2&b=x%20y": `[{"id":1,"n":"5"},{"id":2,"n":"7"},{"id":3,"n":null}]`}},
	}},
	{name: "rest-cursor", since: firstRelease, definition: `{"request":{"url":"http://HOST/rows"},"response":{"path":"$.data[*]"},"pagination":{"kind":"cursor","path":"$.next","param":"after"},"auth":{"kind":"bearer","token":"s3cret"}}`, steps: []step{
		{source: map[string]string{"/rows": `{"data":[{"id":1}],"next":"b"}`, "/rows?after=b": `{"data":[{"id":2}],"next":null}`}},
		{source: map[string]string{"/rows": `{"data":[{"id":1}],"next":"b"}`, "/rows?after=b": `{"data":[{"id":2.5}],"next":"c"}`, "/rows?after=c": `{"data":[{"id":3}],"next":""}`}},
	}},
	{name: "rest-offset", since: firstRelease, definition: `{"request":{"url":"http://HOST/rows"},"pagination":{"kind":"offset","param":"skip","size":2,"sizeParam":"take"},"key":["id"],"mode":"merge"}`, steps: []step{
		{source: map[string]string{"/rows?skip=0&take=2": `[{"id":1,"n":1},{"id":2,"n":1}]`, "/rows?skip=2&take=2": `[{"id":3,"n":1}]`, "/rows?skip=3&take=2": `[]`, "/rows?skip=4&take=2": `[]`}},
		{source: map[string]string{"/rows?skip=0&take=2": `[{"id":1,"n":2},{"id":4,"n":2}]`, "/rows?skip=2&take=2": `[]`}},
	}},
	{name: "rest-page", since: firstRelease, pinned: map[int]outcome{1: {rows: `{"id":1,"tags":["a"]}` + "\n", warned: true}}, definition: `{"request":{"url":"http://HOST/rows"},"pagination":{"kind":"page","param":"page","start":1},"auth":{"kind":"basic","username":"ann","password":"s3cret"}}`, steps: []step{
		{source: map[string]string{"/rows?page=1": `{"rows":[{"id":1,"tags":["a"]}],"extra":[{"x":1}]}`, "/rows?page=2": `{"rows":[{"id":2,"tags":[]}],"extra":[]}`, "/rows?page=3": `{"rows":[],"extra":[]}`}},
		{source: map[string]string{"/rows?page=1": `{"rows":[{"id":1,"tags":["a"]}],"extra":[{"x":1,"y":"something that is longer than the rows"},{"x":2}]}`, "/rows?page=2": `{"rows":[],"extra":[]}`}},
	}},
	{name: "rest-link", since: firstRelease, definition: `{"request":{"url":"http://HOST/rows"},"pagination":{"kind":"linkHeader"},"auth":{"kind":"apiKey","in":"query","name":"key","value":"s3cret"}}`, steps: []step{
		{source: map[string]string{"/rows?key=s3cret": "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nLink: </rows?p=2>; rel=\"next\"\r\n\r\n[{\"id\":1}]", "/rows?p=2&key=s3cret": `[{"id":2}]`}},
		{source: map[string]string{"/rows?key=s3cret": `[{"id":3}]`}},
	}},
	{name: "rest-next-url", since: firstRelease, definition: `{"request":{"url":"http://HOST/rows"},"response":{"path":"$.rows[*]"},"pagination":{"kind":"nextUrl","path":"$.next"},"auth":{"kind":"apiKey","in":"header","name":"X-Api-Key","value":"s3cret"}}`, steps: []step{
		{source: map[string]string{"/rows": `{"rows":[{"id":1}],"next":"/rows?p=2"}`, "/rows?p=2": `{"rows":[{"id":2}]}`}},
		{source: map[string]string{"/rows": `{"rows":[{"id":3}],"next":"http://rest-next-url.test/rows?p=2"}`, "/rows?p=2": `{"rows":[]}`}},
	}},
	{name: "rest-body-dotted", since: firstRelease, definition: `{"request":{"method":"POST","url":"http://HOST/search","body":{"kind":"json","value":{"page":{"size":2},"filter.kind":"a"}}},"response":{"path":"$.rows[*]"},"pagination":{"kind":"cursor","in":"body","path":"$.next","param":"page.after"}}`, steps: []step{
		{source: map[string]string{
			`POST /search {"page":{"size":2},"filter.kind":"a"}`:                  `{"rows":[{"id":1}],"next":"b"}`,
			`POST /search {"page":{"size":2},"filter.kind":"a","page.after":"b"}`: `{"rows":[{"id":2}]}`,
		}},
		{source: map[string]string{
			`POST /search {"page":{"size":2},"filter.kind":"a"}`:                  `{"rows":[{"id":3}],"next":"c"}`,
			`POST /search {"page":{"size":2},"filter.kind":"a","page.after":"c"}`: `{"rows":[{"id":4}]}`,
		}},
	}},
	{name: "rest-body-form", since: firstRelease, definition: `{"request":{"method":"POST","url":"http://HOST/search","body":{"kind":"form","value":{"kind":"a b"}}},"pagination":{"kind":"page","in":"body","param":"page.number"}}`, steps: []step{
		{source: map[string]string{"POST /search kind=a+b&page.number=1": `[{"id":1}]`, "POST /search kind=a+b&page.number=2": `[]`}},
		{source: map[string]string{"POST /search kind=a+b&page.number=1": `[{"id":2}]`, "POST /search kind=a+b&page.number=2": `[]`}},
	}},
	{name: "rest-incremental", since: firstRelease, definition: `{"request":{"url":"http://HOST/rows"},"key":["id"],"incremental":{"cursorPath":"$.at","param":{"in":"query","name":"since"},"start":"2024-01-01T00:00:00Z","lookback":"1h"}}`, steps: []step{
		{source: map[string]string{"/rows?since=2024-01-01T00:00:00Z": `[{"id":1,"at":"2024-02-01T10:00:00Z"},{"id":2,"at":"2024-02-01T12:00:00Z"}]`, "/rows?since=2024-01-01T00%3A00%3A00Z": `[{"id":1,"at":"2024-02-01T10:00:00Z"},{"id":2,"at":"2024-02-01T12:00:00Z"}]`}},
		{source: map[string]string{"/rows?since=2024-02-01T11%3A00%3A00Z": `[{"id":2,"at":"2024-02-01T12:00:00Z"},{"id":3,"at":"2024-02-02T12:00:00Z"}]`}},
		{source: map[string]string{"/rows?since=2024-02-02T11%3A00%3A00Z": `[{"id":3,"at":"2024-02-02T12:00:00Z"},{"id":1,"at":null}]`}},
	}},
	{name: "rest-incremental-append", since: firstRelease, definition: `{"request":{"url":"http://HOST/rows/{{cursor}}"},"response":{"path":"$.rows[*]"},"incremental":{"cursorPath":"$.n","start":"0"}}`, steps: []step{
		{source: map[string]string{"/rows/0": `{"rows":[{"n":1,"v":"a"},{"n":2,"v":"b"}]}`}},
		{source: map[string]string{"/rows/2": `{"rows":[{"n":2,"v":"b"},{"n":3,"v":"c"}]}`}},
		{source: map[string]string{"/rows/3": `{"rows":[{"n":3,"v":"c"},{"n":10,"v":"d"}]}`}},
	}},
	{name: "rest-incremental-body", since: firstRelease, definition: `{"request":{"method":"POST","url":"http://HOST/search","body":{"kind":"json","value":{"filter":{"kind":"a"}}}},"key":["id"],"incremental":{"cursorPath":"$.at","param":{"in":"body","name":"filter.since"},"start":"2024-01-01"}}`, steps: []step{
		{source: map[string]string{`POST /search {"filter":{"kind":"a"},"filter.since":"2024-01-01"}`: `[{"id":1,"at":"2024-02-01"}]`}},
		{source: map[string]string{`POST /search {"filter":{"kind":"a"},"filter.since":"2024-02-01"}`: `[{"id":1,"at":"2024-02-03"},{"id":2,"at":"2024-02-02"}]`}},
	}},
	{name: "rest-merge", since: firstRelease, definition: `{"request":{"url":"http://HOST/rows"},"key":["id"],"mode":"merge"}`, steps: []step{
		{source: map[string]string{"/rows": `[{"id":1,"v":"a"},{"id":1,"v":"b"},{"id":2,"v":"c"}]`}},
		{source: map[string]string{"/rows": `[{"id":2,"v":"d"},{"id":3,"v":"e"},{"id":3,"v":"f"}]`}},
		{},
	}},
	{name: "rest-append", since: firstRelease, definition: `{"request":{"url":"http://HOST/rows"},"mode":"append"}`, steps: []step{
		{source: map[string]string{"/rows": `[{"id":1}]`}},
		{source: map[string]string{"/rows": `[{"id":1},{"id":2}]`}},
	}},
	{name: "rest-errors", since: firstRelease, definition: `{"request":{"url":"http://HOST/rows"},"pagination":{"kind":"page","param":"page"},"errors":[{"status":[404],"action":"ignore"},{"bodyPath":"$.error","action":"fail"}]}`, steps: []step{
		{source: map[string]string{"/rows?page=1": `[{"id":1}]`, "/rows?page=2": `[]`}},
		{source: map[string]string{"/rows?page=1": `[{"id":2}]`}},
		{source: map[string]string{"/rows?page=1": `{"error":"no"}`}},
	}},
	{name: "rest-csv", since: firstRelease, definition: `{"request":{"url":"http://HOST/rows.csv"},"response":{"format":"csv"}}`, steps: []step{
		{source: map[string]string{"/rows.csv": "id,amount,born\n1,\"1,234\",31/12/45\n2,\"2,345\",30/11/80\n\nSource: the bureau,,\n"}},
		{source: map[string]string{"/rows.csv": "id,amount,born\n3,\"3,456\",31/12/46\n\nSource: the bureau,,\n* new,,\n"}},
	}},
	{name: "rest-side", since: firstRelease, pinned: map[int]outcome{1: {rows: `{"id":3,"n":3}` + "\n", warned: true}, 2: {}, 3: {problem: "/problems/records-moved"}}, definition: `{"request":{"url":"http://HOST/rows"}}`, steps: []step{
		{source: map[string]string{"/rows": `{"items":[{"id":1,"n":1},{"id":2,"n":2}],"links":[{"rel":"self"}]}`}},
		{source: map[string]string{"/rows": `{"items":[{"id":3,"n":3}],"notes":[{"text":"something that is longer than the rows are"},{"text":"and more of it"}]}`}},
		{source: map[string]string{"/rows": `{"items":[]}`}},
		{source: map[string]string{"/rows": `{"message":"try again"}`}},
	}},
	{name: "rest-types", since: firstRelease, definition: `{"request":{"url":"http://HOST/rows"},"response":{"path":"$.rows","explode":"lines","types":"text"}}`, steps: []step{
		{source: map[string]string{"/rows": `{"rows":[{"id":1,"lines":[{"n":1.50},{"n":2}]}]}`}},
		{source: map[string]string{"/rows": `{"rows":[{"id":2,"lines":[{"n":3e2}]}]}`}},
	}},
	{name: "rest-oauth", since: firstRelease, definition: `{"request":{"url":"http://HOST/rows"},"auth":{"kind":"oauth2ClientCredentials","tokenUrl":"http://HOST/token","clientId":"ann","clientSecret":"s3cret","scope":"read"}}`, steps: []step{
		{source: oauthSource(`[{"id":1}]`)},
		{source: oauthSource(`[{"id":2}]`)},
	}},
	{name: "rest-login", since: firstRelease, definition: `{"request":{"url":"http://HOST/rows"},"auth":{"kind":"login","request":{"method":"POST","url":"http://HOST/login","body":{"kind":"json","value":{"user":"ann","password":"s3cret"}}},"tokenPath":"$.token","header":"X-Api-Key"}}`, steps: []step{
		{source: map[string]string{`POST /login {"user":"ann","password":"s3cret"}`: `{"token":"t1"}`, "/rows": `[{"id":1}]`}},
		{source: map[string]string{`POST /login {"user":"ann","password":"s3cret"}`: `{"token":"t2"}`, "/rows": `[{"id":2}]`}},
	}},
	{name: "rest-long-name", since: firstRelease, until: firstRelease, definition: `{"request":{"url":"http://HOST/rows","query":{"` + longName + `":"1"}}}`, steps: []step{
		{source: map[string]string{"/rows?" + longName + "=1": `[{"id":1}]`}},
		{source: map[string]string{"/rows?" + longName + "=1": `[{"id":2}]`}},
	}},
	{name: "rest-sibling", since: firstRelease, definition: `{"name":"People","response":{"path":"$.people[*]"},"mode":"merge","key":["id"]}`, parentDefinition: `{"name":"Orders","request":{"url":"http://HOST/all"},"response":{"path":"$.orders[*]"}}`, steps: []step{
		{source: map[string]string{"/all": `{"orders":[{"id":1}],"people":[{"id":1,"name":"Ann"}]}`}},
		{source: map[string]string{"/all": `{"orders":[{"id":2}],"people":[{"id":1,"name":"Anna"},{"id":2,"name":"Bob"}]}`}},
	}},
	{name: "rest-patched", since: firstRelease, definition: `{"name":"Rows","request":{"url":"http://HOST/rows"}}`, steps: []step{
		{source: map[string]string{"/rows": `{"a":[{"id":1}],"b":[{"id":"x"},{"id":"y"}]}`}},
		{patch: `{"retry":{"maxAttempts":2},"name":"Renamed"}`, source: map[string]string{"/rows": `{"a":[{"id":1},{"id":2}],"b":[{"id":"a rather long text that weighs more than the others"}]}`}},
	}},
	{name: "rest-paused", since: firstRelease, definition: `{"request":{"url":"http://HOST/rows"},"schedule":{"every":"1h"}}`, steps: []step{
		{source: map[string]string{"/rows": `[{"id":1}]`}, post: "pause"},
		{source: map[string]string{"/rows": `[{"id":2}]`}},
	}},
	{name: "rest-header", since: firstRelease, definition: `{"request":{"url":"http://HOST/rows"},"response":{"path":"$.rows[*]"},"pagination":{"kind":"cursor","in":"header","path":"$.next","param":"X-Api-Key"}}`, steps: []step{
		{source: map[string]string{"/rows": `{"rows":[{"id":1}]}`}},
		{source: map[string]string{"/rows": `{"rows":[{"id":2}],"next":null}`}},
	}},
	{name: "rest-max-pages", since: firstRelease, definition: `{"request":{"url":"http://HOST/rows"},"pagination":{"kind":"page","param":"page","maxPages":2}}`, steps: []step{
		{source: map[string]string{"/rows?page=1": `[{"id":1}]`, "/rows?page=2": `[]`}},
		{source: map[string]string{"/rows?page=1": `[{"id":1}]`, "/rows?page=2": `[{"id":2}]`, "/rows?page=3": `[{"id":3}]`, "/rows?page=4": `[]`}},
	}},
	{name: "rest-null-key", since: firstRelease, definition: `{"request":{"url":"http://HOST/rows"},"mode":"merge","key":["id","line"]}`, steps: []step{
		{source: map[string]string{"/rows": `[{"id":1,"line":1,"v":"a"},{"id":1,"line":2,"v":"b"}]`}},
		{source: map[string]string{"/rows": `[{"id":1,"line":2,"v":"c"},{"id":2,"line":1.5,"v":"d"}]`}},
		{source: map[string]string{"/rows": `[{"id":1,"line":null,"v":"e"}]`}},
	}},
	{name: "rest-ndjson", since: firstRelease, definition: `{"request":{"method":"POST","url":"http://HOST/rows","body":{"kind":"text","value":"SELECT 1"}},"response":{"format":"ndjson"}}`, steps: []step{
		{source: map[string]string{"POST /rows SELECT 1": `{"id":1,"at":"2024-01-01T00:00:00+02:00"}` + "\n" + `{"id":2,"at":"2024-01-02T00:00:00Z"}` + "\n"}},
		{source: map[string]string{"POST /rows SELECT 1": `{"id":"3","at":"2024-01-02T00:00:00"}` + "\n"}},
	}},
	{name: "rest-deep-body", since: firstRelease, until: firstRelease, definition: `{"request":{"method":"POST","url":"http://HOST/rows","body":{"kind":"json","value":{"` + strings.Repeat(longName, 20) + `":{"a":"1"}}}}}`, steps: []step{
		{source: map[string]string{`POST /rows {"` + strings.Repeat(longName, 20) + `":{"a":"1"}}`: `[{"id":1}]`}},
		{source: map[string]string{`POST /rows {"` + strings.Repeat(longName, 20) + `":{"a":"1"}}`: `[{"id":2}]`}},
	}},
}

func oauthSource(rows string) map[string]string {
	const token = `{"access_token":"t0ken","token_type":"Bearer","expires_in":3600}`
	return map[string]string{
		"/rows": rows,
		"POST /token client_id=ann&client_secret=s3cret&grant_type=client_credentials&scope=read": token,
		"POST /token grant_type=client_credentials&scope=read":                                    token,
	}
}
