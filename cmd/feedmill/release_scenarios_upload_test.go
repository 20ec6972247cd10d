package main

import "strings"

// repeated is a text with numbers counted up in it.
func repeated(n int, format string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(format, "#", string(rune('0'+i%10))))
	}
	return b.String()
}

// uploadScenarios are those of files that every release reads without being told
// how, many of them in a way that a later release may find better.
var uploadScenarios = []scenario{
	{name: "csv-plain", since: firstRelease, unchanged: true, reads: []string{
		"format=csv", "format=json&filter=amount:gt:10", "sort=-day&format=csv", "fields=name,id&format=csv&filter=!name:contains:a",
		`{"fields":[{"field":"paid"},{"field":"amount","aggregate":"sum","as":"sum"}],"sort":[{"field":"sum","order":"desc"}]}`,
	}, steps: []step{
		{params: "format=csv", data: "id,name,amount,day,paid,zip\n1,Ann,12.50,2026-01-31,true,01234\n2,Bob,3,2026-02-28,false,98765\n3,Zoë,,,,\n"},
		{params: "format=csv", data: "id,name,amount,day,paid,zip\n1,Ann,12.50,2026-01-31,true,01234\n2,Bob,3,2026-02-28,false,98765\n3,Zoë,,,,\n"},
		{params: "format=csv", data: "id,name,amount,day,paid,zip,new\n4,Cy,99.999,2026-03-01,true,00001,x\n"},
		{params: "format=csv&mode=append", data: "id,name,amount,day,paid,zip\n5,Di,1,2026-03-02,false,00002\n"},
	}},
	{name: "csv-footer", since: firstRelease, steps: []step{
		{params: "format=csv", data: "region,amount\nnorth,10\nsouth,20\n\nSource: the statistics office,\n"},
		{params: "format=csv", data: "region,amount\nnorth,11\nsouth,21\neast,5\n\nSource: the statistics office,\n* provisional,\n"},
		{params: "format=csv&mode=append", data: "region,amount\nwest,9\n\nNote: estimated,\n"},
	}},
	{name: "csv-number-footer", since: firstRelease, steps: []step{
		{params: "format=csv", data: "id,amount,note\n1,10,a\n2,20,b\n\nSource: the bureau,,\n"},
		{params: "format=csv", data: "id,amount,note\n1,10,a\n2,20,b\n3,30,c\nTotals are rounded.,,\n"},
		{params: "format=csv&mode=append", data: "id,amount,note\n4,40,d\n\n2026,,\n"},
	}},
	{name: "csv-sentence", since: firstRelease, steps: []step{
		{params: "format=csv", data: "city,people\nOslo,700000\nBergen,290000\nThe numbers are preliminary and may change.,\n"},
		{params: "format=csv", data: "city,people\nOslo,710000\nBergen,291000\nHamar,\nThe numbers are preliminary and may change.,\n"},
		{params: "format=csv&mode=append", data: "city,people\nMoss,50000\nThe numbers are final.,\n"},
	}},
	{name: "csv-two-tables", since: firstRelease, steps: []step{
		{params: "format=csv", data: "name,age\nAnn,31\nBob,45\n\nproduct,price,stock\nchair,19.90,4\ntable,99.00,1\n"},
		{params: "format=csv", data: "name,age\nAnn,32\nBob,46\nCy,7\n\nproduct,price,stock\nchair,18.90,3\n"},
		{params: "format=csv&mode=append", data: "name,age\nDi,20\n\nproduct,price,stock\nlamp,5.00,9\n"},
	}},
	{name: "csv-thousands", since: firstRelease, steps: []step{
		{params: "format=csv", data: "id,amount\n" + repeated(3, "1,\"1,23#\"\n") + "2,999\n"},
		{params: "format=csv", data: "id,amount\n" + repeated(12, "1,\"1,23#\"\n") + "2,999\n"},
		{params: "format=csv&mode=append", data: "id,amount\n7,\"1,234,567\"\n"},
	}},
	{name: "csv-thousands-found", since: firstRelease, steps: []step{
		{params: "format=csv", data: "id,amount,fee\n1,\"1,234.50\",\"2,000\"\n2,\"1,000,000.00\",\"3,000\"\n"},
		{params: "format=csv", data: "id,amount,fee\n1,\"1,234\",\"2,000\"\n2,\"5,678\",\"3,000\"\n"},
		{params: "format=csv&mode=append", data: "id,amount,fee\n3,\"9,876\",1\n"},
	}},
	{name: "csv-semicolon", since: firstRelease, steps: []step{
		{params: "format=csv", data: "day;price;pieces\n01.02.2026;1.234,50 €;1.234\n28.02.2026;-0,05 €;2.345\n"},
		{params: "format=csv", data: "day;price;pieces\n03.03.2026;7,00 €;3.456\n"},
		{params: "format=csv&mode=append", data: "day;price;pieces\n04.03.2026;8,00 €;4\n"},
	}},
	{name: "csv-birth", since: firstRelease, steps: []step{
		{params: "format=csv", data: "name,birth date,seen\nAnn,31/12/45,13/01/26\nBob,15/06/71,14/01/26\n"},
		{params: "format=csv", data: "name,birth date,seen\nAnn,31/12/45,13/01/26\nBob,15/06/71,14/01/26\nCy,30/11/30,15/02/30\n"},
		{params: "format=csv&mode=append", data: "name,birth date,seen\nDi,28/02/27,16/03/26\n"},
	}},
	{name: "csv-single-quotes", since: firstRelease, steps: []step{
		{params: "format=csv", data: "id,name,place\n1,'Ann, the first','Oslo'\n2,'Bob','Bergen, west'\n3,'Cy','Moss'\n"},
		{params: "format=csv", data: "id,name,place\n1,'Ann, the first','Oslo'\n2,'Bob','Bergen, west'\n4,'Di','Hamar'\n"},
		{params: "format=csv&mode=append", data: "id,name,place\n5,'Ed, junior','Oslo'\n"},
	}},
	{name: "csv-no-header", since: firstRelease, steps: []step{
		{params: "format=csv", data: "Ann,Oslo,red\nBob,Bergen,blue\nCy,Moss,green\n"},
		{params: "format=csv", data: "Ann,Oslo,red\nDi,Hamar,black\n"},
		{params: "format=csv&mode=append", data: "Ann,Oslo,red\nEd,Molde,white\n"},
	}},
	{name: "csv-numbers-no-header", since: firstRelease, steps: []step{
		{params: "format=csv", data: "1,2.5,2026-01-01\n2,3.5,2026-01-02\n"},
		{params: "format=csv", data: "3,4.5,2026-01-03\n4,5.5,2026-01-04\n"},
		{params: "format=csv&mode=append", data: "5,6.5,2026-01-05\n6,7.5,2026-01-06\n"},
	}},
	{name: "csv-ambiguous-dates", since: firstRelease, steps: []step{
		{params: "format=csv", data: "id,ordered,sent\n1,01/02/2026,25/12/2026\n2,03/04/2026,26/12/2026\n"},
		{params: "format=csv", data: "id,ordered,sent\n1,01/02/2026,05/06/2026\n2,03/04/2026,07/08/2026\n"},
		{params: "format=csv&mode=append", data: "id,ordered,sent\n3,13/04/2026,28/12/2026\n"},
	}},
	{name: "csv-null-tokens", since: firstRelease, steps: []step{
		{params: "format=csv", data: "id,amount,day,word\n1,5,2026-01-01,NA\n2,NA,0000-00-00,-\n3,-,2026-01-03,none\n4,n/a,NULL,x\n"},
		{params: "format=csv", data: "id,amount,day,word\n1,?,2026-01-01,NA\n2,#N/A,2026-01-02,-\n3,7,None,x\n"},
		{params: "format=csv&mode=append", data: "id,amount,day,word\n5,$ -,2026-01-05,y\n"},
	}},
	{name: "csv-long-numbers", since: firstRelease, steps: []step{
		{params: "format=csv", data: "id,exact,longer,science\n1,12345678901234567890.123456789,123456789012345678901234567890123456789012,1.5e3\n2,0.1,1,2E-7\n"},
		{params: "format=csv", data: "id,exact,longer,science\n1,98765432109876543210.5,5,1\n2,9223372036854775808,2,1e400\n"},
		{params: "format=csv&mode=append", data: "id,exact,longer,science\n3,-0.000000000000000000000001,3,3\n"},
	}},
	{name: "csv-widening", since: firstRelease, steps: []step{
		{params: "format=csv", data: "id,n,flag,empty\n1,10,true,\n2,20,false,\n"},
		{params: "format=csv&mode=append", data: "id,n,flag,empty\n3,10.5,true,7\n"},
		{params: "format=csv&mode=append", data: "id,n,flag,empty\n4,about ten,maybe,x\n"},
		{params: "format=csv", data: "id,n,flag\n1,10,true\n"},
	}},
	{name: "csv-ragged", since: firstRelease, steps: []step{
		{params: "format=csv", data: "id,id,,name\n1,2,3,Ann\n4,5\n6,7,8,Bob,more,yet more\n"},
		{params: "format=csv", data: "id,id,,name\n1,2,3,Ann,extra\n"},
		{params: "format=csv&mode=append", data: "id,id,,name\n9\n"},
	}},
	{name: "csv-title-units", since: firstRelease, steps: []step{
		{params: "format=csv", data: "Report of the year\n\nname,weight,length\n,kg,m\nAnn,61.5,1.70\nBob,80,1.82\n"},
		{params: "format=csv", data: "Report of the year\n\nname,weight,length\n,kg,m\nAnn,62.5,1.70\n"},
		{params: "format=csv&mode=append", data: "name,weight,length\nCy,50,1.50\n"},
	}},
	{name: "csv-latin", since: firstRelease, steps: []step{
		{params: "format=csv", data: "name,place\nZo\xeb,K\xf8benhavn\nAnn,Malm\xf6\n"},
		{params: "format=csv", data: "name,place\nZo\xeb,\xc5rhus\n"},
		{params: "format=csv&mode=append", data: "name,place\nBjörn,Malmö\n"},
	}},
	{name: "csv-text", since: firstRelease, steps: []step{
		{params: "format=csv&types=text", data: "id,amount,day\n1,\"1,234\",01/02/26\n02,5.0,NA\n"},
		{params: "format=csv&types=text", data: "id,amount,day\n3,6,2026-01-01\n"},
		{params: "format=csv&types=text&mode=append", data: "id,amount,day\n4,007,-\n"},
	}},
	{name: "csv-merge", since: firstRelease, unchanged: true, steps: []step{
		{params: "format=csv&mode=merge&key=id", data: "id,name,n\n1,Ann,1\n2,Bob,2\n2,Bobby,22\n"},
		{params: "format=csv", data: "id,name,n\n2,Rob,3\n3,Cy,4\n3,Cyd,5\n"},
		{params: "format=csv", data: "id,name,n\n2,Rob,3\n"},
		{params: "format=csv", data: "id,name,n\n,Nobody,1\n"},
		{params: "format=csv", data: "id,name,n\n1.5,Half,1\nx,Text,2\n"},
	}},
	{name: "csv-merge-two-keys", since: firstRelease, steps: []step{
		{params: "format=csv&mode=merge&key=order,line", data: "order,line,item\nA,1,chair\nA,2,table\nB,1,lamp\n"},
		{params: "format=csv&mode=merge&key=order,line", data: "order,line,item\nA,2,desk\nB,2,bulb\n"},
		{params: "format=csv&mode=append", data: "order,line,item\nA,1,stool\n"},
	}},
	{name: "tsv-plain", since: firstRelease, steps: []step{
		{params: "format=tsv", data: "id\tname\tat\n1\tAnn, A\t2026-01-01 10:00:00\n2\tBob\t2026-01-02 11:30:00\n"},
		{params: "format=tsv", data: "id\tname\tat\n1\tAnn, A\t2026-01-01T10:00:00+02:00\n"},
		{params: "format=tsv&mode=append", data: "id\tname\tat\n3\tCy\t2026-01-03T00:00:00Z\n"},
	}},
	{name: "json-side", since: firstRelease, pinned: map[int]outcome{1: {rows: `{"id":4,"name":"Di"}` + "\n", warned: true}, 2: {rows: `{"id":4,"name":"Di"}` + "\n" + `{"id":5,"name":"Ed"}` + "\n"}}, steps: []step{
		{params: "format=json", data: `{"page":1,"total":2,"errors":[{"code":1,"text":"a long message about what went wrong in the request"},{"code":2,"text":"and another message"}],"items":[{"id":1,"name":"Ann"},{"id":2,"name":"Bob"},{"id":3,"name":"Cy"}]}`},
		{params: "format=json", data: `{"page":1,"total":1,"errors":[` + strings.TrimSuffix(repeated(9, `{"code":#,"text":"a long message about what went wrong in the request"},`), ",") + `],"items":[{"id":4,"name":"Di"}]}`},
		{params: "format=json&mode=append", data: `{"page":2,"items":[{"id":5,"name":"Ed"}]}`},
	}},
	{name: "json-two-lists", since: firstRelease, pinned: map[int]outcome{1: {rows: `{"id":3,"n":3.00}` + "\n", warned: true}, 2: {rows: `{"id":3,"n":3.00}` + "\n" + `{"id":4,"n":4.00}` + "\n"}}, steps: []step{
		{params: "format=json", data: `{"orders":[{"id":1,"n":1.50},{"id":2,"n":2}],"people":[{"name":"Ann"}]}`},
		{params: "format=json", data: `{"orders":[{"id":3,"n":3}],"people":[` + strings.TrimSuffix(repeated(9, `{"name":"Ann #","place":"a rather long name of a place"},`), ",") + `]}`},
		{params: "format=json&mode=append", data: `{"orders":[{"id":4,"n":4}],"people":[]}`},
	}},
	{name: "json-path", since: firstRelease, steps: []step{
		{params: "format=json&path=$.data.items[*]", data: `{"data":{"items":[{"id":1,"who":{"name":"Ann","tags":["a","b"]}},{"id":2,"who":{"name":"Bob","tags":[]}}],"more":[{"x":1},{"x":2},{"x":3}]}}`},
		{params: "format=json&path=$.data.items[*]", data: `{"data":{"items":[{"id":3,"who":{"name":"Cy","tags":[1]}}]}}`},
		{params: "format=json&mode=append&path=$.data.more[*]", data: `{"data":{"items":[{"id":3}],"more":[{"id":9}]}}`},
	}},
	{name: "json-explode", since: firstRelease, steps: []step{
		{params: "format=json&explode=lines", data: `[{"id":1,"lines":[{"item":"chair","n":1},{"item":"table","n":2}]},{"id":2,"lines":[]}]`},
		{params: "format=json&explode=lines", data: `[{"id":3,"lines":[{"item":"lamp","n":3}]}]`},
		{params: "format=json&explode=lines&mode=append", data: `[{"id":4,"lines":[{"item":"desk","n":1.5}]}]`},
	}},
	{name: "json-shapes", since: firstRelease, reads: []string{"format=csv"}, steps: []step{
		{params: "format=json", data: `[{"id":1,"list":[1,2],"mixed":"a","at":"2026-01-01T10:00:00+01:00","local":"2026-01-01T10:00:00","digits":"12","exact":1.10},{"id":2,"list":[{"a":1}],"mixed":{"b":2},"at":"2026-01-02T10:00:00Z","local":"2026-01-02 11:00","digits":"13","exact":12345678901234567890123456789012345678901234.5}]`},
		{params: "format=json", data: `[{"id":1,"id":7,"list":null,"mixed":3,"at":"2026-01-03T10:00:00Z","local":"2026-01-03T10:00:00","digits":"x","exact":1e3}]`},
		{params: "format=json&mode=append", data: `[{"id":8,"list":"text","mixed":true,"at":"soon","digits":14}]`},
	}},
	{name: "json-invoice", since: firstRelease, steps: []step{
		{params: "format=json", data: `{"id":7,"customer":"Ann","total":12.5,"lines":[{"item":"chair","price":10},{"item":"glue","price":2.5}]}`},
		{params: "format=json", data: `{"id":8,"customer":"Bob","total":1,"lines":[{"item":"nail","price":1}]}`},
		{params: "format=json&mode=append", data: `{"id":9,"customer":"Cy","total":2,"lines":[{"item":"tack","price":2}]}`},
	}},
	{name: "json-objects", since: firstRelease, steps: []step{
		{params: "format=json", data: `{"EUR":{"rate":1,"name":"Euro"},"USD":{"rate":1.08,"name":"Dollar"}}`},
		{params: "format=json", data: `{"EUR":{"rate":1,"name":"Euro"},"USD":{"rate":1.09,"name":"Dollar"},"NOK":{"rate":11.5,"name":"Krone"}}`},
	}},
	{name: "ndjson-merge", since: firstRelease, steps: []step{
		{params: "format=ndjson&mode=merge&key=id", data: `{"id":1,"name":"Zoë","big":12345678901234567890.5}` + "\n" + `{"id":"2","name":"Ada"}` + "\n"},
		{params: "format=ndjson", data: `{"id":2,"name":"Ada L"}` + "\n" + `{"id":"2","name":"Ada K"}` + "\n" + `{"id":3.0,"name":"Bo"}` + "\n"},
		{params: "format=ndjson", data: `{"id":3,"name":"Bob"}` + "\n"},
	}},
	{name: "ndjson-append", since: firstRelease, steps: []step{
		{params: "format=ndjson&mode=append", data: `{"at":"2026-01-01","n":1}` + "\n" + `{"at":"2026-01-02","n":2}` + "\n"},
		{params: "format=ndjson", data: `{"at":"2026-01-03","n":3}` + "\n"},
		{params: "format=ndjson", data: `{"at":"2026-01-04T00:00:00Z","n":4}` + "\n"},
	}},
	{name: "csv-joined-header", since: firstRelease, steps: []step{
		{params: "format=csv", data: "sales,,costs,\nnorth,south,north,south\n1,2,3,4\n5,6,7,8\n"},
		{params: "format=csv", data: "sales,,costs,\nnorth,south,north,south\n9,8,7,6\n"},
	}},
	{name: "csv-money", since: firstRelease, steps: []step{
		{params: "format=csv", data: "id,price,share,change,mixed\n1,\"$1,234.50\",12.5%,(5.00),$1\n2,$7,0.1%,3.00,€2\n"},
		{params: "format=csv", data: "id,price,share,change,mixed\n3,\"$2,000\",7%,(1),$3\n"},
		{params: "format=csv&mode=append", data: "id,price,share,change,mixed\n4,8,9,10,11\n"},
	}},
	{name: "csv-bad-bytes", since: firstRelease, steps: []step{
		{params: "format=csv", data: "id,name\n" + repeated(12, "#,Zoë ä\n") + "12,Z\xff\n"},
		{params: "format=csv", data: "id,name\n1,Zo\xeb\n2,ä\n"},
	}},
	{name: "csv-repeated-header", since: firstRelease, steps: []step{
		{params: "format=csv", data: "id,name\n1,Ann\nid,name\n2,Bob\n,\n,\n"},
		{params: "format=csv", data: "id,name\n1,Ann\n,\n2,Bob\nid,name\n"},
	}},
	{name: "csv-totals", since: firstRelease, steps: []step{
		{params: "format=csv", data: "region,amount\nnorth,10\nsouth,20\nTotal,30\n"},
		{params: "format=csv&mode=append", data: "region,amount\neast,5\nTotal,35\n"},
	}},
	{name: "csv-one-column", since: firstRelease, steps: []step{
		{params: "format=csv", data: "name\nAnn\n\nBob\n\nSource: the bureau\n"},
		{params: "format=csv", data: "name\nAnn\nname\nCy\n"},
	}},
	{name: "json-rows", since: firstRelease, steps: []step{
		{params: "format=json", data: `[["id","name"],[1,"Ann"],[2,"Bob"]]`},
		{params: "format=json", data: `[["id","name"],[3,"Cy"]]`},
	}},
	{name: "json-context", since: firstRelease, steps: []step{
		{params: "format=json", data: `{"currency":"EUR","generated":"2024-01-01","data":{"unit":"kg","rows":[{"id":1,"meta":{"a":{"b":2}}},{"id":2,"meta":{"a":{"b":3}}}]}}`},
		{params: "format=json", data: `{"currency":"USD","generated":"2024-01-02","data":{"unit":"kg","rows":[{"id":3,"meta":{"a":4}}]}}`},
		{params: "format=json&mode=append", data: `{"data":{"rows":[{"id":4}]}}`},
	}},
	{name: "json-text-key", since: firstRelease, steps: []step{
		{params: "format=json&mode=merge&key=id", data: `[{"id":"01","at":"2024-01-01"},{"id":"1","at":"2024-01-02"}]`},
		{params: "format=json", data: `[{"id":"1","at":"2024-01-03"},{"id":1,"at":"soon"},{"id":null,"at":"x"}]`},
		{params: "format=json", data: `[{"id":1.0,"at":"2024-01-04"}]`},
	}},
}
