package subscribe

import (
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// pigeon is a second kind of destination, whose configuration is the name of the bird. A
// change to it appends the new name to the old one.
type pigeon struct{}

func (pigeon) Name() feedmill.DestinationKind { return "pigeon" }

func (pigeon) Schemes() []string { return []string{"pigeon"} }

func (pigeon) Define(r feedmill.DestinationRequest) (d feedmill.Destination, config []byte, err error) {
	d = r.Was
	d.Kind = "pigeon"
	if f, ok := r.Body.Get("url"); ok {
		d.URL, _ = f.Text()
	}
	if r.Delivery == nil {
		return d, nil, nil
	}
	if f, ok := r.Delivery.Get("bird"); ok {
		if len(r.Was.Config) > 0 {
			if config, err = r.OpenConfig(); err != nil {
				return d, nil, err
			}
		}
		name, _ := f.Text()
		config, d.ConfigNames = append(config, name...), []string{"bird"}
	}
	return d, config, nil
}

// The scheme of the URL selects the kind, no change selects another, and the configuration
// is sealed in the store and open to its kind alone.
func TestKindOfADestination(t *testing.T) {
	w := newWorld(t)
	w.Kinds = append(w.Kinds, pigeon{})
	read := func(text string) (*strictjson.Object, *feedmill.Faults) {
		faults := new(feedmill.Faults)
		v, ok := strictjson.Read([]byte(text), strictjson.Part{}, faults.Note)
		if !ok {
			t.Fatal(faults.List)
		}
		return strictjson.NewObject(&v, "", faults.Note), faults
	}
	var ids []feedmill.ID
	for _, url := range []string{"PIGEON:loft", "https://example.com/hook"} {
		body, faults := read(`{"url":"` + url + `","events":["tag.*"]}`)
		halves, err := w.Create(t.Context(), w.workspace, body, faults, keepNone)
		must(t, err)
		ids = append(ids, halves[0].Made.ID)
	}
	for i, c := range []struct {
		of       int
		body     string
		kind     feedmill.DestinationKind
		url      string
		config   string
		pointers string
	}{
		{0, `{"name":"n"}`, "pigeon", "PIGEON:loft", "", ""},
		{0, `{"delivery":{"bird":"Ada-1"}}`, "pigeon", "PIGEON:loft", "Ada-1", ""},
		{0, `{"delivery":{"bird":"Bob-2","timeout":"1s"}}`, "pigeon", "PIGEON:loft", "Ada-1Bob-2", ""},
		{0, `{"delivery":{"headers":{"X-A":"1"}}}`, "pigeon", "PIGEON:loft", "Ada-1Bob-2", "/delivery/headers"},
		{1, `{"delivery":{"bird":"Ada-1"}}`, "webhook", "https://example.com/hook", "", "/delivery/bird"},
		{1, `{"delivery":{"headers":{"X-A":"1"}}}`, "webhook", "https://example.com/hook", `{"X-A":"1"}`, ""},
		{1, `{"url":"pigeon:roof"}`, "webhook", "https://example.com/hook", `{"X-A":"1"}`, "/url"},
		{1, `{"url":"pigeon:roof","delivery":{"bird":"Cid-3"}}`, "webhook", "https://example.com/hook", `{"X-A":"1"}`, "/url"},
		{0, `{"url":"https://example.com/","delivery":null}`, "pigeon", "PIGEON:loft", "Ada-1Bob-2", "/url"},
		{0, `{"url":"magpie:nest"}`, "pigeon", "PIGEON:loft", "Ada-1Bob-2", "/url /url"},
		{1, `{"url":"magpie:nest"}`, "webhook", "https://example.com/hook", `{"X-A":"1"}`, "/url"},
	} {
		body, faults := read(c.body)
		_, err := w.Change(t.Context(), w.workspace, ids[c.of], body, faults)
		var pointers []string
		for _, f := range faults.List {
			pointers = append(pointers, f.Pointer)
		}
		if strings.Join(pointers, " ") != c.pointers || (err != nil) != (c.pointers != "") {
			t.Errorf("%d: %v with faults at %q, want %q", i, err, pointers, c.pointers)
		}
		sub, err := w.db.Subscription(t.Context(), w.workspace, ids[c.of])
		must(t, err)
		config := ""
		if len(sub.Destination.Config) > 0 {
			plain, err := w.openConfig(t.Context(), sub)
			must(t, err)
			config = string(plain)
		}
		if d := sub.Destination; d.Kind != c.kind || d.URL != c.url || config != c.config || c.config != "" && strings.Contains(string(d.Config), c.config) {
			t.Errorf("%d: the destination is %+v with %q, want %s %s with %q", i, d, config, c.kind, c.url, c.config)
		}
	}
}
