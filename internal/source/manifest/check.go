package manifest

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// checkDefinition reads the definition of a REST feed and says what is wrong with it.
type checkDefinition func(body []byte, maxBytes int64) (*spec.Definition, error)

// definitions holds every view to the rules of REST feeds, as a connection with
// all settings would use it.
func (r *reading) definitions(check checkDefinition) {
	config := map[string]string{}
	for _, s := range r.m.Settings {
		switch config[s.Name] = s.Default; {
		case s.Default != "":
		case strings.HasPrefix(r.m.doc.Member("baseUrl").Text(), "{{config."+s.Name+"}}"):
			config[s.Name] = "https://example.com"
		default:
			config[s.Name] = "x"
		}
	}
	for _, name := range grantSettings {
		config[name] = "x"
	}
	for i := range r.m.Views {
		v := &r.m.Views[i]
		var parameters []Parameter
		for _, f := range v.Fields {
			for _, p := range f.Pass {
				if p.In != inToken { // that has a default
					parameters = append(parameters, Parameter{In: p.In, Name: p.Param, Value: strictjson.String("x")})
				}
			}
		}
		body, err := r.m.Definition(v, config, v.All(), parameters)
		if err != nil {
			r.faults.Note("/views/"+v.Name, "The view cannot be compiled: "+err.Error()+".")
			continue
		}
		_, err = check(body, 0)
		refusal, ok := errors.AsType[*feedmill.Error](err)
		if err != nil && !ok {
			r.faults.Note("/views/"+v.Name, err.Error())
		}
		if ok {
			for _, f := range refusal.Faults {
				r.faults.Note(r.placeOf(v, f.Pointer), f.Detail)
			}
		}
	}
}

// placeOf is where a place of a view's definition stands in the manifest.
func (r *reading) placeOf(v *View, pointer string) string {
	own := "/views/" + v.Name
	if rest, ok := strings.CutPrefix(pointer, "/columns/"); ok {
		index, _, _ := strings.Cut(rest, "/")
		picked := slices.DeleteFunc(slices.Clone(v.Fields), func(f Field) bool { return f.Path == "" })
		if i, err := strconv.Atoi(index); err == nil && i < len(picked) {
			return own + "/fields/" + strictjson.EscapePointer(picked[i].Name)
		}
	}
	if pointer == "/request/url" {
		if r.m.doc.At(own+"/request/path") != nil {
			return own + "/request/path"
		}
		if r.m.doc.At(own+pointer) == nil {
			return "/baseUrl"
		}
	}
	if r.m.doc.At(own+pointer) == nil && r.m.doc.At(pointer) != nil {
		return pointer
	}
	return own + pointer
}
