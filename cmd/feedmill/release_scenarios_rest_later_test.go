package main

// restLaterScenarios are those of REST feeds that the first release had no members
// for.
func restLaterScenarios() []scenario {
	return []scenario{
		{name: "rest-each-values", since: lastRelease, definition: `{"request":{"url":"http://HOST/rows/{{shop.id}}"},"each":{"in":{"values":[{"id":"a","city":"Oslo"},{"id":"b","city":"Moss"}]},"as":"shop","include":["city"]},"key":["shop.city","n"],"mode":"merge"}`, steps: []step{
			{source: map[string]string{"/rows/a": `[{"n":1,"v":1}]`, "/rows/b": `[{"n":1,"v":2}]`}},
			{source: map[string]string{"/rows/a": `[{"n":1,"v":3},{"n":2,"v":3}]`, "/rows/b": `[]`}},
		}},
		{name: "rest-each-feed", since: lastRelease, definition: `{"request":{"url":"http://HOST/posts/{{post.id}}"},"each":{"in":{"feedId":"PARENT"},"as":"post","include":["id","title"]},"incremental":{"cursorPath":"$.at","param":{"name":"since"},"start":"2024-01-01T00:00:00Z"},"key":["post.id","id"]}`, steps: []step{
			{parent: "id,title\n1,One\n2,Two\n", source: map[string]string{
				"/posts/1?since=2024-01-01T00:00:00Z": `[{"id":1,"at":"2024-02-01T00:00:00Z"}]`, "/posts/2?since=2024-01-01T00:00:00Z": `[]`,
				"/posts/1?since=2024-01-01T00%3A00%3A00Z": `[{"id":1,"at":"2024-02-01T00:00:00Z"}]`, "/posts/2?since=2024-01-01T00%3A00%3A00Z": `[]`,
			}},
			{source: map[string]string{
				"/posts/1?since=2024-02-01T00%3A00%3A00Z": `[{"id":1,"at":"2024-02-01T00:00:00Z"},{"id":2,"at":"2024-02-02T00:00:00Z"}]`,
				"/posts/2?since=2024-01-01T00%3A00%3A00Z": `[{"id":1,"at":"2024-02-03T00:00:00Z"}]`,
			}},
		}},
		{name: "rest-columns", since: lastRelease, definition: `{"request":{"url":"http://HOST/rows"},"response":{"path":"$.rows[*]"},"columns":[{"name":"id","path":"$.id"},{"name":"title","path":"$.names[0].text","type":"text"},{"name":"day","path":"$.d","type":"date","format":"YYYYMMDD"}],"otherColumns":"drop","key":["id"],"mode":"merge"}`, steps: []step{
			{source: map[string]string{"/rows": `{"rows":[{"id":1,"names":[{"text":"One"}],"d":"20240131","x":1},{"id":2,"names":[],"d":"20240201","x":2}]}`}},
			{source: map[string]string{"/rows": `{"rows":[{"id":2,"names":[{"text":7}],"d":"20240202"}]}`}},
			{source: map[string]string{"/rows": `{"rows":[{"id":3,"names":null,"d":"soon"}]}`}},
		}},
		{name: "rest-key-as", since: lastRelease, definition: `{"request":{"url":"http://HOST/rates"},"response":{"path":"$.rates.*","keyAs":"day"},"key":["day"],"mode":"merge"}`, steps: []step{
			{source: map[string]string{"/rates": `{"base":"EUR","rates":{"2024-01-01":{"USD":1.1},"2024-01-02":{"USD":1.2}}}`}},
			{source: map[string]string{"/rates": `{"base":"EUR","rates":{"2024-01-02":{"USD":1.25},"2024-01-03":{"USD":1.3,"NOK":11}}}`}},
		}},
		{name: "rest-names", since: lastRelease, definition: `{"request":{"url":"http://HOST/rows"},"response":{"path":"$.values[1:]","names":["$.values[0][*]"],"values":["$[*]"]},"columns":[{"name":"count","path":"$.count","type":"integer"}]}`, steps: []step{
			{source: map[string]string{"/rows": `{"range":"A","values":[["name","count"],["Ann","1"],["Bob"]]}`}},
			{source: map[string]string{"/rows": `{"range":"A","values":[["name","count","new"],["Cy","2","x"],["Di","3"]]}`}},
		}},
		{name: "rest-graphql", since: lastRelease, definition: `{"request":{"url":"http://HOST/graphql","body":{"kind":"graphql","query":"query($after: String) { rows }"}},"response":{"path":"$.data.rows[*]"},"pagination":{"kind":"cursor","path":"$.data.end","param":"variables.after","more":"$.data.more"}}`, steps: []step{
			{source: map[string]string{
				`POST /graphql {"query":"query($after: String) { rows }"}`:                           `{"data":{"rows":[{"id":1}],"end":"b","more":true}}`,
				`POST /graphql {"query":"query($after: String) { rows }","variables":{"after":"b"}}`: `{"data":{"rows":[{"id":2}],"end":"c","more":false}}`,
			}},
			{source: map[string]string{`POST /graphql {"query":"query($after: String) { rows }"}`: `{"data":{"rows":[{"id":3}],"end":"b","more":false}}`}},
			{source: map[string]string{`POST /graphql {"query":"query($after: String) { rows }"}`: `{"errors":[{"message":"no"}],"data":null}`}},
		}},
		{name: "rest-job", since: lastRelease, definition: `{"request":{"method":"POST","url":"http://HOST/reports","body":{"kind":"json","value":{"kind":"sales"}}},"job":{"id":"$.id","poll":{"url":"http://HOST/reports/{{job.id}}"},"every":"1s","state":"$.status","done":["complete"],"failed":["error"],"result":"$.file"}}`, steps: []step{
			{source: map[string]string{`POST /reports {"kind":"sales"}`: `{"id":"r1"}`, "/reports/r1": `{"status":"complete","file":"http://rest-job.test/r1.csv"}`, "/r1.csv": "id,amount\n1,\"1,234\"\n\nSource: the bureau,\n"}},
			{source: map[string]string{`POST /reports {"kind":"sales"}`: `{"id":"r2"}`, "/reports/r2": `{"status":"complete","file":"http://rest-job.test/r2.csv"}`, "/r2.csv": "id,amount\n2,\"2,345\"\n\nSource: the bureau,\n"}},
		}},
		{name: "rest-total", since: lastRelease, definition: `{"request":{"url":"http://HOST/rows"},"response":{"path":"$.rows[*]","missing":"empty"},"pagination":{"kind":"offset","param":"at","size":2,"sizeParam":"n","total":"$.total"}}`, steps: []step{
			{source: map[string]string{"/rows?at=0&n=2": `{"rows":[{"id":1},{"id":2}],"total":3}`, "/rows?at=2&n=2": `{"rows":[{"id":3}],"total":3}`}},
			{source: map[string]string{"/rows?at=0&n=2": `{"rows":[{"id":4}],"total":1}`}},
			{source: map[string]string{"/rows?at=0&n=2": `{"total":0}`}},
		}},
		{name: "rest-more-pages", since: lastRelease, definition: `{"request":{"url":"http://HOST/rows"},"response":{"path":"$.rows[*]"}}`, steps: []step{
			{source: map[string]string{"/rows": `{"rows":[{"id":1}],"next":"/rows?p=2","total":9}`}},
			{source: map[string]string{"/rows": `{"rows":[{"id":1},{"id":2}],"next":null,"has_more":true}`}},
		}},
		{name: "rest-xml", since: lastRelease, definition: `{"request":{"url":"http://HOST/rows"},"response":{"path":"/feed/entry"}}`, steps: []step{
			{source: map[string]string{"/rows": `<feed><entry id="1"><n>1,234</n></entry><entry id="2"><n>5</n></entry></feed>`}},
			{source: map[string]string{"/rows": `<feed><entry id="3"><n>6</n></entry></feed>`}},
		}},
		{name: "rest-reading", since: lastRelease, definition: `{"request":{"url":"http://HOST/rows"},"response":{"format":"csv","delimiter":";","decimal":",","dates":"mdy","nulls":"none","timezone":"Europe/Paris","header":1}}`, steps: []step{
			{source: map[string]string{"/rows": "id;amount;day;at\n1;1,5;01/02/2024;2024-01-01 10:00\n2;none;03/04/2024;2024-07-01 10:00\n"}},
			{source: map[string]string{"/rows": "id;amount;day;at\n3;7;05/06/2024;2024-01-01 10:00\n"}},
		}},
		{name: "rest-columns-arrays", since: lastRelease, definition: `{"request":{"url":"http://HOST/rows"}}`, steps: []step{
			{source: map[string]string{"/rows": `{"hourly":{"time":["2024-01-01T00:00","2024-01-01T01:00"],"rain":[0.1,0.2]}}`}},
			{source: map[string]string{"/rows": `{"hourly":{"time":["2024-01-01T02:00"],"rain":[0.3]}}`}},
		}},
		{name: "rest-null-cursor", since: lastRelease, definition: `{"request":{"url":"http://HOST/rows"},"incremental":{"cursorPath":"$.at","param":{"name":"since"},"start":"2024-01-01","format":"unix"}}`, steps: []step{
			{source: map[string]string{"/rows?since=1704067200": `[{"id":1,"at":1704067300},{"id":2,"at":null}]`}},
			{source: map[string]string{"/rows?since=1704067300": `[{"id":1,"at":1704067300},{"id":3,"at":1704067400},{"id":2,"at":null}]`}},
			{source: map[string]string{"/rows?since=1704067400": `[{"id":3,"at":1704067400},{"id":4,"at":9999999999}]`}},
			{source: map[string]string{"/rows?since=1704067400": `[{"id":5,"at":1704067500}]`, "/rows?since=9999999999": `[]`}},
		}},
		{name: "rest-window", since: lastRelease, definition: `{"request":{"url":"http://HOST/rows"},"incremental":{"step":"3660d","start":"2024-01-01","format":"date","param":{"name":"from"}},"key":["id"]}`, steps: []step{
			{source: map[string]string{"/rows?from=2024-01-01": `[{"id":1,"v":1},{"id":2,"v":1}]`}},
			{source: map[string]string{"/rows?from=2024-01-01": `[{"id":2,"v":2},{"id":3,"v":2}]`}},
		}},
		{name: "rest-refresh-token", since: lastRelease, definition: `{"request":{"url":"http://HOST/rows"},"auth":{"kind":"oauth2RefreshToken","tokenUrl":"http://HOST/token","clientId":"ann","clientSecret":"s3cret","refreshToken":"r1"}}`, steps: []step{
			{source: tokenSource("r1", "r2", `[{"id":1}]`)},
			{source: tokenSource("r2", "r3", `[{"id":2}]`)},
		}},
		{name: "rest-declared-secret", since: lastRelease, definition: `{"request":{"url":"http://HOST/rows","query":{"team":{"secret":"blue"}}}}`, steps: []step{
			{source: map[string]string{"/rows?team=blue": `[{"id":1}]`}},
			{source: map[string]string{"/rows?team=blue": `[{"id":2}]`}},
		}},
		{name: "rest-each-request", since: lastRelease, definition: `{"request":{"url":"http://HOST/shops/{{shop.id}}"},"each":{"in":{"request":{"url":"http://HOST/shops"},"path":"$.shops[*]"},"as":"shop","include":["id"]}}`, steps: []step{
			{source: map[string]string{"/shops": `{"shops":[{"id":1},{"id":2}]}`, "/shops/1": `[{"n":1}]`, "/shops/2": `[{"n":"x"}]`}},
			{source: map[string]string{"/shops": `{"shops":[{"id":2},{"id":3}]}`, "/shops/2": `[{"n":2}]`, "/shops/3": `[]`}},
		}},
		{name: "rest-charset", since: lastRelease, definition: `{"request":{"url":"http://HOST/rows"}}`, steps: []step{
			{source: map[string]string{"/rows": "HTTP/1.1 200 OK\r\nContent-Type: text/csv; charset=iso-8859-1\r\n\r\nid,name\n1,Zo\xeb\n"}},
			{source: map[string]string{"/rows": "HTTP/1.1 200 OK\r\nContent-Type: text/csv; charset=iso-8859-1\r\n\r\nid,name\n2,J\xf6rg\n"}},
		}},
		{name: "rest-changed-columns", since: lastRelease, definition: `{"request":{"url":"http://HOST/rows"}}`, steps: []step{
			{source: map[string]string{"/rows": `[{"id":1,"zip":"01234"},{"id":2,"zip":"98765"}]`}, patch: `[{"id":"c1","name":"Number"},{"id":"c2","type":"integer"}]`},
			{source: map[string]string{"/rows": `[{"id":3,"zip":"00007"}]`}},
			{source: map[string]string{"/rows": `[{"id":4,"zip":"seven"}]`}},
		}},
		{name: "rest-xlsx", since: lastRelease, definition: `{"request":{"url":"http://HOST/rows.xlsx"},"response":{"format":"xlsx","sheet":2}}`, steps: []step{
			{source: map[string]string{"/rows.xlsx": "HTTP/1.1 200 OK\r\nContent-Type: application/vnd.openxmlformats-officedocument.spreadsheetml.sheet\r\n\r\n" + workbook("a\n1\n", "id,amount\n1,2\n\nSource: the bureau\n")}},
			{source: map[string]string{"/rows.xlsx": "HTTP/1.1 200 OK\r\nContent-Type: application/vnd.openxmlformats-officedocument.spreadsheetml.sheet\r\n\r\n" + workbook("a\n1\n", "id,amount\n3,4\n\nSource: the bureau\n")}},
		}},
	}
}

// tokenSource gives one refresh token for another.
func tokenSource(old, next, rows string) map[string]string {
	token := `{"access_token":"t0ken","token_type":"Bearer","expires_in":1,"refresh_token":"` + next + `"}`
	return map[string]string{
		"/rows": rows,
		"POST /token client_id=ann&client_secret=s3cret&grant_type=refresh_token&refresh_token=" + old: token,
		"POST /token grant_type=refresh_token&refresh_token=" + old:                                    token,
	}
}
