package manifest

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// Parameter is something that a request has besides what the manifest says.
type Parameter struct {
	// In is query, headers, body or token.
	In, Name string
	Value    strictjson.Value
	// field is the place of the field whose filters it comes from.
	field int
}

// tokens are what {{filter.NAME}} stands for in a view.
func (v *View) tokens(parameters []Parameter) map[string]string {
	all := map[string]string{}
	for _, f := range v.Fields {
		for _, p := range f.Pass {
			if p.In == inToken {
				all[p.Param] = p.Default
			}
		}
	}
	for _, p := range parameters {
		if p.In == inToken {
			all[p.Name] = p.Value.Text()
		}
	}
	return all
}

// Definition is the definition of a REST feed that fetches fields of a view, as
// JSON text with the secrets in it. The config is that of a connection.
func (m *Manifest) Definition(v *View, config map[string]string, fields []*Field, parameters []Parameter) ([]byte, error) {
	def := m.assemble(v)
	def.Set("rules", strictjson.Value{Kind: '0', Raw: strconv.AppendInt(nil, int64(m.Rules), 10)})
	request := def.Member("request")
	for _, p := range parameters {
		if p.In == inToken {
			continue
		}
		in := object(request, p.In)
		if p.In == "body" {
			in = object(in, "value")
		}
		in.Set(p.Name, p.Value)
	}
	if columns := columnsOf(fields); len(columns.Items) > 0 {
		def.Set("columns", columns)
		def.Set("otherColumns", strictjson.String("drop"))
	}
	s := substitution{manifest: m, config: config, filters: v.tokens(parameters)}
	s.replace(&def, "")
	if len(s.unknown) > 0 {
		return nil, fmt.Errorf("the manifest of %s has unknown tokens: %s", m.Service, strings.Join(slices.Sorted(maps.Keys(s.unknown)), ", "))
	}
	return def.Append(nil), nil
}

// object is a member of an object, made where it is not there.
func object(in *strictjson.Value, name string) *strictjson.Value {
	if v := in.Member(name); v == nil || v.Kind != '{' {
		in.Set(name, strictjson.Value{Kind: '{'})
	}
	return in.Member(name)
}

// assemble puts together what the manifest says of all views and of one.
func (m *Manifest) assemble(v *View) strictjson.Value {
	view := m.doc.Member("views").Member(v.Name)
	def := strictjson.Value{Kind: '{'}
	for _, name := range passedOn {
		switch own, common := view.Member(name), m.doc.Member(name); {
		case name == "request":
			def.Set(name, joined(common, own))
		case own != nil:
			def.Set(name, own.Clone())
		case common != nil:
			def.Set(name, common.Clone())
		}
	}
	request := def.Member("request")
	address := strings.TrimSuffix(m.doc.Member("baseUrl").Text(), "/")
	if path := request.Member("path"); path != nil {
		address += "/" + strings.TrimPrefix(path.Text(), "/")
		request.Remove("path")
	}
	if request.Member("url") == nil {
		request.Set("url", strictjson.String(address))
	}
	if m.SignIn != nil && view.Member("auth") == nil {
		def.Set("auth", m.grant())
	}
	return def
}

// grant is how requests are signed with what a person has granted.
func (m *Manifest) grant() strictjson.Value {
	auth := strictjson.Value{Kind: '{'}
	auth.Set("kind", strictjson.String("oauth2RefreshToken"))
	auth.Set("tokenUrl", strictjson.String(m.SignIn.TokenURL))
	for _, name := range grantSettings {
		auth.Set(name, strictjson.String("{{config."+name+"}}"))
	}
	return auth
}

// grantSettings are what the connection of a personal service has besides the
// settings of the manifest.
var grantSettings = []string{"clientId", "clientSecret", refreshToken}

// refreshToken is the setting that a sign-in gives.
const refreshToken = "refreshToken"

// joined is the members of two objects; of those that both have, objects are
// joined and the later of others stays.
func joined(first, second *strictjson.Value) strictjson.Value {
	switch {
	case first == nil && second == nil:
		return strictjson.Value{Kind: '{'}
	case first == nil:
		return second.Clone()
	case second == nil:
		return first.Clone()
	case first.Kind != '{' || second.Kind != '{':
		return second.Clone()
	}
	out := first.Clone()
	for i := range second.Members {
		m := &second.Members[i]
		out.Set(m.Name, joined(first.Member(m.Name), &m.Value))
	}
	return out
}

func columnsOf(fields []*Field) strictjson.Value {
	columns := strictjson.Value{Kind: '['}
	for _, f := range fields {
		if f.Path == "" {
			continue // comes with the parent
		}
		c := strictjson.Value{Kind: '{'}
		c.Set("name", strictjson.String(f.Name))
		c.Set("path", strictjson.String(f.Path))
		as := f.Type
		if as == columnar.TypeJSON {
			as = columnar.TypeText // an object would become a column for each of its members
		}
		c.Set("type", strictjson.String(string(as)))
		if f.Written != "" {
			c.Set("format", strictjson.String(f.Written))
		}
		columns.Items = append(columns.Items, c)
	}
	return columns
}

// substitution puts the config of a connection into a definition.
type substitution struct {
	manifest *Manifest
	config   map[string]string
	filters  map[string]string
	unknown  map[string]bool
}

var ownToken = regexp.MustCompile(`\{\{\s*(config|filter)\.([A-Za-z0-9]+)\s*\}\}`)

// replace puts values in the places of their tokens, and reports whether all of
// them are given: what needs a setting that is not is left out. A text of a
// request with a secret in it is a declared secret.
func (s *substitution) replace(v *strictjson.Value, at string) (given bool) {
	switch v.Kind {
	case '{':
		kept := v.Members[:0]
		for _, m := range v.Members {
			if s.replace(&m.Value, at+"/"+m.Name) {
				kept = append(kept, m)
			}
		}
		v.Members, v.Raw = kept, nil
	case '[':
		kept := v.Items[:0]
		for _, item := range v.Items {
			if s.replace(&item, at) {
				kept = append(kept, item)
			}
		}
		v.Items, v.Raw = kept, nil
	case '"':
		return s.replaceText(v, at)
	}
	return true
}

func (s *substitution) replaceText(v *strictjson.Value, at string) (given bool) {
	text := v.Text()
	if !strings.Contains(text, "{{") {
		return true
	}
	given = true
	secret := false
	replaced := ownToken.ReplaceAllStringFunc(text, func(token string) string {
		parts := ownToken.FindStringSubmatch(token)
		name := parts[2]
		value, known := s.filters[name]
		if known && parts[1] == "filter" {
			return value
		}
		setting, known := s.manifest.setting(name)
		if !known || parts[1] == "filter" {
			if s.unknown == nil {
				s.unknown = map[string]bool{}
			}
			s.unknown[parts[1]+"."+name] = true
			return ""
		}
		value, ok := s.config[name]
		if !ok {
			value = setting.Default
		}
		given = given && (ok || setting.Default != "")
		secret = secret || setting.Secret
		return value
	})
	if replaced == text {
		return true
	}
	*v = strictjson.String(replaced)
	if secret && inRequest(at) {
		declared := strictjson.Value{Kind: '{'}
		declared.Set("secret", *v)
		*v = declared
	}
	return given
}

// inRequest reports whether a place is in a request, where a secret must be
// declared; the members of auth are known.
func inRequest(at string) bool {
	return strings.HasPrefix(at, "/request/") || strings.HasPrefix(at, "/each/in/request/") || strings.HasPrefix(at, "/job/poll/") || strings.HasPrefix(at, "/auth/request/")
}

// setting finds a setting, or one that comes with a grant.
func (m *Manifest) setting(name string) (Setting, bool) {
	if i := slices.IndexFunc(m.Settings, func(s Setting) bool { return s.Name == name }); i >= 0 {
		return m.Settings[i], true
	}
	if m.SignIn != nil && slices.Contains(grantSettings, name) {
		return Setting{Name: name, Secret: name != "clientId", Required: true}, true
	}
	return Setting{}, false
}
