package expression

import (
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// sample is an event with every kind of JSON value.
const sample = `{"id":"evt_1","type":"metric.created","timestamp":"2026-11-15T12:00:00.000Z","resourceId":"m_1","data":` +
	`{"name":"Umsatz ü","count":42,"share":0.1,"big":9007199254740993,"huge":1e400,"on":true,"off":false,"none":null,` +
	`"tags":["a","b","c"],"list":[1,2.5,"x",null],"nested":{"deep":{"er":"yes"}},"a.b":1,"empty":"","when":"2026-11-15T12:00:00Z"}}`

// Every expression has its result: true, false, or an error that contains a text.
func TestFilters(t *testing.T) {
	e := New()
	for _, c := range []struct{ filter, want string }{
		{`true`, "true"},
		{`false`, "false"},
		{`event.type == 'metric.created'`, "true"},
		{`event.type.startsWith("metric.")`, "true"},
		{`event.type in ['metric.updated', 'metric.created']`, "true"},
		{`event.type.endsWith('.deleted')`, "false"},
		{`event.id == 'evt_1'`, "true"},
		{`event.resourceId == 'm_1'`, "true"},
		{`event.resourceId != 'm_2' && event.resourceId.startsWith('m')`, "true"},
		{`event.timestamp == '2026-11-15T12:00:00.000Z'`, "true"},
		{`timestamp(event.timestamp) > timestamp('2026-01-01T00:00:00Z')`, "true"},
		{`timestamp(event.timestamp).getHours() == 12`, "true"},
		{`timestamp(event.data.when) - timestamp(event.timestamp) == duration('0s')`, "true"},
		{`event.data.count == 42`, "true"},
		{`event.data.count == 42.0`, "true"},
		{`event.data.count > 41 && event.data.count <= 42u`, "true"},
		{`event.data.count > 41.5`, "true"},
		{`event.data.count + 1.0 == 43.0`, "true"},
		{`event.data.count + 1 == 43`, "no such overload"},
		{`int(event.data.count) % 2 == 0`, "true"},
		{`event.data.share == 0.1`, "true"},
		{`event.data.share * 10.0 == 1.0`, "true"},
		{`event.data.big == '9007199254740993'`, "true"},
		{`event.data.big == 9007199254740993`, "false"},
		{`int(event.data.big) == 9007199254740993`, "true"},
		{`event.data.huge == '1e400'`, "true"},
		{`type(event.data.big) == string && type(event.data.count) == double`, "true"},
		{`event.data.on && !event.data.off`, "true"},
		{`event.data.on`, "true"},
		{`event.data.name`, "filter must return a boolean; it returned string"},
		{`event.data.none == null`, "true"},
		{`event.data.missing == null`, "no such key: missing"},
		{`has(event.data.missing)`, "false"},
		{`has(event.data.none)`, "true"},
		{`has(event.data.count) && event.data.count == 42`, "true"},
		{`has(event.data.missing) && event.data.missing > 1`, "false"},
		{`event.data.missing > 1 || event.data.on`, "true"},
		{`event.data.?missing.orValue(7) == 7`, "true"},
		{`event.data.?nested.?deep.?er.orValue('') == 'yes'`, "true"},
		{`event.data.nested.deep.er == 'yes'`, "true"},
		{`event.data['a.b'] == 1`, "true"},
		{`'a' in event.data.tags`, "true"},
		{`'nested' in event.data`, "true"},
		{`event.data.tags == ['a', 'b', 'c']`, "true"},
		{`event.data.tags.size() == 3 && event.data.tags[1] == 'b'`, "true"},
		{`event.data.tags[3] == 'd'`, "index out of bounds: 3"},
		{`event.data.tags.exists(t, t == 'c')`, "true"},
		{`event.data.tags.all(t, t.size() == 1)`, "true"},
		{`event.data.tags.exists_one(t, t > 'b')`, "true"},
		{`event.data.tags.filter(t, t != 'a').map(t, t + '!') == ['b!', 'c!']`, "true"},
		{`event.data.tags.join('-') == 'a-b-c' && ['', 'x'].join(',') == ',x'`, "true"},
		{`event.data.list[1] == 2.5 && event.data.list[3] == null`, "true"},
		{`event.data.name.lowerAscii().contains('umsatz')`, "true"},
		{`event.data.name.size() == 8 && event.data.name.charAt(7) == 'ü'`, "true"},
		{`event.data.name.indexOf('ü') == 7 && event.data.name.lastIndexOf('z') == 5 && 'aXbX'.indexOf('X', 2) == 3`, "true"},
		{`event.data.name.matches('^[A-Z][a-z]+ .$')`, "true"},
		{`matches(event.data.name, 'sat')`, "true"},
		{`event.data.name.matches('[')`, "the pattern is not valid"},
		{`'a,b'.split(',') == ['a', 'b'] && 'a-b'.replace('-', '+') == 'a+b' && ' x '.trim() == 'x'`, "true"},
		{`event.data.name.substring(0, 6) == 'Umsatz'`, "true"},
		{`event.data.name / 2 == 1`, "no such overload"},
		{`1 / (int(event.data.count) - 42) == 1`, "division by zero"},
		{`math.greatest(event.data.count, 50) == 50 && math.abs(-1) == 1`, "true"},
		{`event.data.tags.slice(0, 2) == ['a', 'b']`, "true"},
		{`(event.data.count > 10 ? 'many' : 'few') == 'many'`, "true"},
		{`event == event`, "true"},
		{`Event{id: 'x'} == event`, "an event cannot be constructed"},
		{`event.data.empty == '' && size(event.data.empty) == 0`, "true"},
		{`'%s has %d'.format([event.data.name, int(event.data.count)]) == 'Umsatz ü has 42'`, "true"},
	} {
		if err := e.CheckFilter(c.filter); err != nil {
			t.Errorf("%s: %v", c.filter, err)
			continue
		}
		v := e.Open([]byte(sample))(c.filter)
		got := map[bool]string{true: "true", false: "false"}[v.Matches]
		if v.Error != "" {
			got = v.Error
		}
		if got != c.want && !(v.Error != "" && strings.Contains(got, c.want)) {
			t.Errorf("%s\nis %s, want %s", c.filter, got, c.want)
		}
		if v.Key != feedmill.FilterKey(c.filter) {
			t.Errorf("%s: the verdict has the key of another filter", c.filter)
		}
	}
}

// An event without a resource has null.
func TestFilterOfNull(t *testing.T) {
	e := New()
	f := e.Open([]byte(`{"id":"evt_1","type":"tag.created","timestamp":"2026-11-15T12:00:00.000Z","resourceId":null,"data":{}}`))
	for filter, want := range map[string]bool{`event.resourceId == null`: true, `has(event.resourceId)`: false, `event.resourceId == 'a'`: false, `size(event.data) == 0`: true} {
		if v := f(filter); v.Error != "" || v.Matches != want {
			t.Errorf("%s is %+v", filter, v)
		}
	}
}

// A faulty expression is refused with its position and what is wrong.
func TestRefusedExpressions(t *testing.T) {
	e := New()
	for _, c := range []struct {
		transform  bool
		text, want string
	}{
		{false, ``, "filter must not be empty"},
		{false, " \n", "filter must not be empty"},
		{true, ``, "transform must not be empty"},
		{false, `event.tpye == 'x'`, "filter is not valid CEL at line 1, column 6: undefined field 'tpye'"},
		{false, "true &&\n  evnt.type == 'x'", "filter is not valid CEL at line 2, column 3: undeclared reference to 'evnt'"},
		{false, `event.type = 'x'`, "filter is not valid CEL at line 1, column 12: "},
		{false, `event.type == `, "filter is not valid CEL at line 1, column 15: "},
		{false, `event.type + 1 == 'x'`, "column 12: found no matching overload"},
		{false, `event.type == 1`, "column 12: found no matching overload"},
		{false, `event.type.matchez('x')`, "undeclared reference to 'matchez'"},
		{false, `event.type`, "filter must return a boolean; it returns string"},
		{false, `1`, "filter must return a boolean; it returns int"},
		{true, `event.type == 'x'`, "transform must return a map, a list or a string; it returns bool"},
		{true, `1.5`, "transform must return a map, a list or a string; it returns double"},
		{true, `{'a': }`, "transform is not valid CEL at line 1, column 7"},
		{false, `"` + strings.Repeat("x", 4095) + `" == ''`, "filter must have at most 4096 bytes; it has 4103"},
		{false, strings.Repeat("(", 300) + "true" + strings.Repeat(")", 300), "filter is not valid CEL"},
		{false, strings.Repeat("[", 300) + strings.Repeat("]", 300) + " == []", "filter is not valid CEL"},
	} {
		check := e.CheckFilter
		if c.transform {
			check = e.CheckTransform
		}
		if err := check(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60s: %v\nwant %s", c.text, err, c.want)
		}
	}
}

// Hostile expressions end soon, whatever they do.
func TestHostileExpressions(t *testing.T) {
	e := New()
	large := `{"id":"evt_1","type":"metric.created","timestamp":"2026-11-15T12:00:00.000Z","resourceId":null,"data":{"s":"` +
		strings.Repeat("a", 100_000) + `","t":"` + strings.Repeat("a", 50_000) + `b","n":[` + strings.TrimSuffix(strings.Repeat("1,", 50_000), ",") + `]}}`
	const bound = 2 * time.Second // without limits each would take minutes; the race detector takes a multiple
	for name, filter := range map[string]string{
		"nested loops":        `event.data.n.all(a, event.data.n.all(b, event.data.n.all(c, a == b || c == a)))`,
		"loop":                `event.data.n.all(a, a == 1)`,
		"loop that builds":    `event.data.n.map(a, event.data.n).size() == 1`,
		"doubling":            `[1,2,3,4,5,6,7,8,9,10,11,12].map(x, event.data.s + event.data.s + event.data.s).size() == 12`,
		"doubling further":    `[event.data.s]` + strings.Repeat(`.map(a, a + a)`, 40) + `.size() == 1`,
		"doubling lists":      `[[1]]` + strings.Repeat(`.map(a, a + a)`, 40) + `.map(a, a.size()) == []`,
		"nesting lists":       `[[1]]` + strings.Repeat(`.map(a, [a, a])`, 40) + `.map(a, a == a) == []`,
		"nesting without":     `optional.of([1])` + strings.Repeat(`.optMap(a, a.map(b, a) + a.map(b, a))`, 20) + ` == optional.none()`,
		"replace":             `event.data.s.replace('a', event.data.s) == ''`,
		"replace nothing":     `event.data.s.replace('', event.data.t) == ''`,
		"split":               `event.data.s.split('').size() == 1`,
		"join":                `event.data.n.map(x, 'x').join(event.data.s) == ''`,
		"join of few":         `[` + strings.TrimSuffix(strings.Repeat("event.data.s,", 100), ",") + `].join() == ''`,
		"search":              `event.data.s.indexOf(event.data.t) == 1`,
		"search backwards":    `event.data.s.lastIndexOf(event.data.t) == 1`,
		"regexp":              `event.data.s.matches('(a*)*b')`,
		"regexp of the event": `event.data.s.matches(event.data.t)`,
		"large regexp":        `event.data.s.matches('(((a{30}){30}){30})')`,
		"regexp repeated":     strings.TrimSuffix(strings.Repeat(`event.data.s.matches('a{900}b') || `, 100), "|| "),
		"comparisons":         strings.TrimSuffix(strings.Repeat(`event.data != event.data || `, 140), "|| "),
		"format":              `'` + strings.Repeat("%s", 250) + `'.format([` + strings.TrimSuffix(strings.Repeat("event.data.s,", 250), ",") + `]) == ''`,
		"reversed":            strings.TrimSuffix(strings.Repeat(`event.data.s.reverse() == '' || `, 120), "|| "),
	} {
		t.Run(name, func(t *testing.T) {
			if err := e.CheckFilter(filter); err != nil {
				t.Fatal(err)
			}
			began := threadTime()
			v := e.Open([]byte(large))(filter)
			if took := threadTime() - began; took > bound {
				t.Errorf("%d characters took %s", len(filter), took)
			}
			if v.Error == "" {
				t.Errorf("the verdict is %+v", v)
			}
			t.Log(v.Error)
		})
	}
}
