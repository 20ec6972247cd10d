package feedmill

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/feedmill/feedmill/internal/strictjson"
)

// readObject reads an object, and lists the places that are at fault.
func readObject(t *testing.T, text string, read func(*strictjson.Object)) (places []string) {
	t.Helper()
	var faults Faults
	v, ok := strictjson.Read([]byte(text), strictjson.Part{}, faults.Note)
	if !ok {
		t.Fatalf("%s is no JSON", text)
	}
	read(strictjson.NewObject(&v, "", faults.Note))
	for _, f := range faults.List {
		places = append(places, f.Pointer)
	}
	return places
}

func TestReadConnection(t *testing.T) {
	before := ConnectionConfig{"host": "h", "database": "d", "user": "u", "password": "secret", "sslmode": "prefer"}
	for _, test := range []struct {
		text   string
		before ConnectionConfig
		want   ConnectionConfig
		faults []string
	}{
		{
			`{"host":"h","database":"d","user":"u","password":"p","port":5433,"sslmode":"require","connectTimeout":"1s","statementTimeout":"24h"}`, nil,
			ConnectionConfig{"host": "h", "database": "d", "user": "u", "password": "p", "port": "5433", "sslmode": "require", "connectTimeout": "1s", "statementTimeout": "24h"},
			nil,
		},
		{`{}`, nil, ConnectionConfig{}, []string{"/host", "/database", "/user"}},
		{`{}`, before, before, nil},
		{`{"user":null}`, before, nil, []string{"/user"}},
		{`{"password":null}`, before, ConnectionConfig{"host": "h", "database": "d", "user": "u", "sslmode": "prefer"}, nil},
		{`{"password":"***"}`, before, before, nil},
		{`{"host":"h","database":"d","user":"u","password":"***"}`, nil, nil, []string{"/password"}},
		{`{"password":"` + strings.Repeat("x", maxSetting) + `"}`, before, nil, nil},
		{`{"password":"` + strings.Repeat("x", maxSetting+1) + `"}`, before, nil, []string{"/password"}},
		{`{"password":"\u0000"}`, before, nil, []string{"/password"}},
		{`{"port":0}`, before, nil, []string{"/port"}},
		{`{"port":65535}`, ConnectionConfig{"host": "h", "database": "d", "user": "u"}, nil, nil},
		{`{"port":65536}`, before, nil, []string{"/port"}},
		{`{"connectTimeout":"999ms"}`, before, nil, []string{"/connectTimeout"}},
		{`{"connectTimeout":"60s"}`, before, nil, nil},
		{`{"connectTimeout":"61s"}`, before, nil, []string{"/connectTimeout"}},
		{`{"connectTimeout":5}`, before, nil, []string{"/connectTimeout"}},
		{`{"sslmode":"on"}`, before, nil, []string{"/sslmode"}},
		{`{"hosts":"h"}`, before, nil, []string{"/hosts"}},
		// A secret goes to the place that it was given for, and nowhere else.
		{`{"host":"other"}`, before, nil, []string{"/password"}},
		{`{"host":"other","password":"***"}`, before, nil, []string{"/password"}},
		{`{"host":"other","password":"new"}`, before, ConnectionConfig{"host": "other", "database": "d", "user": "u", "password": "new", "sslmode": "prefer"}, nil},
		{`{"host":"other","password":null}`, before, ConnectionConfig{"host": "other", "database": "d", "user": "u", "sslmode": "prefer"}, nil},
		{`{"port":5432}`, before, nil, nil}, // as it is without a word
		{`{"port":5433}`, before, nil, []string{"/password"}},
		{`{"host":"other"}`, ConnectionConfig{"host": "h", "database": "d", "user": "u"}, nil, nil},
	} {
		postgres, _ := FindConnector("postgres")
		var got ConnectionConfig
		faults := readObject(t, test.text, func(o *strictjson.Object) { got = postgres.Read(o, test.before) })
		if slices.Sort(faults); !slices.Equal(faults, slices.Sorted(slices.Values(test.faults))) {
			t.Errorf("%.100s: faults at %q, want %q", test.text, faults, test.faults)
		}
		for _, place := range test.faults {
			name := place[1:]
			if text, set := got[name]; set && text != test.before[name] || set && text == "" && !strings.Contains(test.text, Hidden) {
				t.Errorf("%.100s: %s is %q although it is wrong", test.text, name, text)
			}
		}
		if test.want != nil && !maps.Equal(got, test.want) {
			t.Errorf("%.100s: %v, want %v", test.text, got, test.want)
		}
	}
}

func TestGrantedSettings(t *testing.T) {
	c := Connector{Name: "api", Settings: []ConnectorSetting{{Name: "refreshToken", Secret: true, Granted: true}}}
	for text, want := range map[string]int{`{}`: 0, `{"refreshToken":"***"}`: 0, `{"refreshToken":"mine"}`: 1, `{"refreshToken":null}`: 1} {
		if faults := readObject(t, text, func(o *strictjson.Object) { c.Read(o, ConnectionConfig{"refreshToken": "kept"}) }); len(faults) != want {
			t.Errorf("%s: faults at %q, want %d", text, faults, want)
		}
	}
}

func TestConnectorSettings(t *testing.T) {
	for _, test := range []struct{ connector, setting, set, want string }{
		{"postgres", "port", "", "5432"},
		{"mysql", "port", "", "3306"},
		{"mysql", "port", "3307", "3307"},
		{"duckdb", "statementTimeout", "", "10m"},
		{"duckdb", "port", "", ""},
	} {
		c, ok := FindConnector(test.connector)
		config := ConnectionConfig{}
		if test.set != "" {
			config[test.setting] = test.set
		}
		if got := c.Setting(config, test.setting); !ok || got != test.want {
			t.Errorf("%s of %s is %q, want %q", test.setting, test.connector, got, test.want)
		}
	}
	if c, ok := FindConnector("oracle"); ok {
		t.Errorf("there is %+v", c)
	}
}

func TestReadConnector(t *testing.T) {
	more := []Connector{{Name: "stripe"}}
	var all string
	for _, c := range Connectors {
		all += c.Name + ", "
	}
	for text, want := range map[string]string{
		`"sqlite"`: "sqlite", `"stripe"`: "stripe", `"postgre"`: "Did you mean postgres?", `"x"`: all + "stripe.\n",
		`"feeds"`: "is built in", `1`: "string",
	} {
		var faults Faults
		v, _ := strictjson.Read([]byte(`{"connector":`+text+`}`), strictjson.Part{}, faults.Note)
		f, _ := strictjson.NewObject(&v, "", faults.Note).Get("connector")
		c, ok := ReadConnector(f, more)
		if ok != (len(faults.List) == 0) || ok && c.Name != want || !ok && !strings.Contains(faults.List[0].Detail+"\n", want) {
			t.Errorf("%s is %+v, faults %+v, want %s", text, c, faults.List, want)
		}
	}
}

func TestReadServiceName(t *testing.T) {
	for text, want := range map[string]int{
		`"sales"`: 0, `"a.b c"`: 0, `"..."`: 0, `"a/b"`: 1, `" a"`: 1, `"a "`: 1, `"."`: 1, `".."`: 1, `""`: 1, `"` + strings.Repeat("x", MaxServiceName) + `"`: 0,
		`"` + strings.Repeat("x", MaxServiceName+1) + `"`: 1,
	} {
		faults := readObject(t, `{"name":`+text+`}`, func(o *strictjson.Object) {
			f, _ := o.Get("name")
			ReadServiceName(f)
		})
		if len(faults) != want {
			t.Errorf("%s: faults at %q, want %d", text, faults, want)
		}
	}
}
