package expression

import (
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
)

func TestTransforms(t *testing.T) {
	e := New()
	for _, c := range []struct{ transform, contentType, want string }{
		{`{'text': event.type}`, feedmill.ContentJSON, `{"text":"metric.created"}`},
		{`{'b': 1, 'a': [event.data.count, event.data.share, event.data.none], '10': 'x', '9': 'y'}`, feedmill.ContentJSON, `{"9":"y","10":"x","a":[42,0.1,null],"b":1}`},
		{`[event.id, 2, 2.5, true]`, feedmill.ContentJSON, `["evt_1",2,2.5,true]`},
		{`'Count: ' + string(event.data.count)`, contentText, `Count: 42`},
		{`event.data.nested`, feedmill.ContentJSON, `{"deep":{"er":"yes"}}`},
		{`event.data.name`, contentText, `Umsatz ü`},
		{`{'big': event.data.big, 'n': 1e-7, 'z': -0.0, 'm': 1e21}`, feedmill.ContentJSON, `{"big":"9007199254740993","m":1e+21,"n":1e-7,"z":0}`},
		{`{'at': timestamp(event.timestamp), 'for': duration('90s'), 'maybe': event.data.?missing}`, feedmill.ContentJSON, `{"at":"2026-11-15T12:00:00.000Z","for":"1m30s","maybe":null}`},
		{`event.data.tags.map(t, {'tag': t})`, feedmill.ContentJSON, `[{"tag":"a"},{"tag":"b"},{"tag":"c"}]`},
		{`{'quote': "\"<>&\u2028"}`, feedmill.ContentJSON, "{\"quote\":\"\\\"<>&\u2028\"}"},
	} {
		if err := e.CheckTransform(c.transform); err != nil {
			t.Errorf("%s: %v", c.transform, err)
			continue
		}
		for range 5 { // the same bytes each time
			got, err := e.Body(t.Context(), "ws_1", feedmill.Shape{Transform: c.transform}, []byte(sample))
			if err != nil || string(got.Bytes) != c.want || got.ContentType != c.contentType {
				t.Errorf("%s\nis %s %s, %v\nwant %s", c.transform, got.ContentType, got.Bytes, err, c.want)
			}
		}
	}
	for transform, want := range map[string]string{
		`event.data.missing`: "transform-failed: no such key: missing",
		`event.data.count`:   "transform-failed: transform must return a map, a list or a string; it returned double",
		`{'a': 0.0 / 0.0}`:   "transform-failed: the output has a number that JSON cannot represent",
		`{1: 'a'}`:           "transform-failed: the output has a map with a key of type int; keys must be strings",
		`{'a': b'x'}`:        "transform-failed: the output has a value of type bytes, which JSON cannot represent",
		`{'a': type(1)}`:     "transform-failed: the output has a value of type type, which JSON cannot represent",
		`[` + strings.Repeat(`event.data,`, 300) + `'x']`: "transform-failed: the output has more than 65536 bytes",
	} {
		if _, err := e.Body(t.Context(), "ws_1", feedmill.Shape{Transform: transform}, []byte(sample)); err == nil || err.Error() != want {
			t.Errorf("%.60s: %v\nwant %s", transform, err, want)
		}
	}
}

// The whole event passes through a transformation as the payload has it, up to the order of keys.
func TestIdentity(t *testing.T) {
	got, err := New().Body(t.Context(), "ws_1", feedmill.Shape{Transform: `event`}, []byte(`{"id":"evt_1","type":"a.b","timestamp":"x","resourceId":null,"data":{"a":1}}`))
	if want := `{"data":{"a":1},"id":"evt_1","resourceId":null,"timestamp":"x","type":"a.b"}`; err != nil || string(got.Bytes) != want {
		t.Errorf("%s, %v", got.Bytes, err)
	}
}

func TestPresets(t *testing.T) {
	event := `{"id":"evt_1","type":"datafeed.source.refresh_failed","timestamp":"x","resourceId":"df_1","data":{"detail":"<!channel> *bold* @everyone & more","n":1,"list":[1],"none":null}}`
	for name, want := range map[string]feedmill.Body{
		"slack":   {Bytes: []byte(`{"text":"*datafeed.source.refresh_failed* df_1\ndetail: &lt;!channel&gt; *bold* @everyone &amp; more\nn: 1"}`), ContentType: feedmill.ContentJSON},
		"discord": {Bytes: []byte(`{"allowed_mentions":{"parse":[]},"content":"**datafeed.source.refresh\\_failed** df\\_1\ndetail: \\<!channel> \\*bold\\* @everyone & more\nn: 1"}`), ContentType: feedmill.ContentJSON},
		"teams": {Bytes: []byte(`{"type":"message","attachments":[{"contentType":"application/vnd.microsoft.card.adaptive","content":{"$schema":"http://adaptivecards.io/schemas/adaptive-card.json",` +
			`"type":"AdaptiveCard","version":"1.4","body":[{"type":"TextBlock","wrap":true,"text":"**datafeed.source.refresh\\_failed** df\\_1\n\ndetail: &lt;!channel> \\*bold\\* @everyone & more\n\nn: 1"}]}}]}`), ContentType: feedmill.ContentJSON},
		"text": {Bytes: []byte("datafeed.source.refresh_failed df_1\ndetail: <!channel> *bold* @everyone & more\nn: 1"), ContentType: contentText},
	} {
		got, err := New().Body(t.Context(), "ws_1", feedmill.Shape{Preset: name}, []byte(event))
		if err != nil || string(got.Bytes) != string(want.Bytes) || got.ContentType != want.ContentType {
			t.Errorf("%s: %s %s, %v\nwant %s", name, got.ContentType, got.Bytes, err, want.Bytes)
		}
	}
	if len(feedmill.Presets) != 4 {
		t.Error("a preset is not tested")
	}
	long := `{"id":"evt_1","type":"a.b","timestamp":"x","resourceId":null,"data":{"a":"` + strings.Repeat("ü", 5000) + `"` + strings.Repeat(`,"b`+"x"+`":1`, 0)
	for i := range 30 {
		long += `,"k` + string(rune('a'+i%26)) + string(rune('a'+i/26)) + `":"` + strings.Repeat("*", 200) + `"`
	}
	got, err := New().Body(t.Context(), "ws_1", feedmill.Shape{Preset: "discord"}, []byte(long+`}}`))
	if err != nil || len([]rune(string(got.Bytes))) > 2*2000 || !strings.Contains(string(got.Bytes), "…") {
		t.Errorf("a long message has %d characters, %v", len([]rune(string(got.Bytes))), err)
	}
}
