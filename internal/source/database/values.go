package database

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
	"github.com/feedmill/feedmill/internal/strictjson"
)

const (
	// maxValueBytes is how many bytes of values a list has.
	maxValueBytes = 256 << 10
	// samplesEach is how many samples a field has, of up to maxSample bytes each, out of the first
	// samplesOf rows of its view. They are left out where they take longer than sampleTime or the
	// rows have more than sampleRowBytes.
	samplesEach, maxSample, samplesOf = 3, 100, 20
	sampleTime, sampleRowBytes        = 2 * time.Second, 4 << 20
)

// Values lists the distinct values of a field as JSON, sorted, with null last. With a text, only
// values that have it in them, whatever its case.
func (c *Connections) Values(ctx context.Context, workspace feedmill.ID, service, view, field, text string, limit int) (values []jsontext.Value, err error) {
	of, err := c.service(ctx, workspace, service)
	if err != nil {
		return nil, err
	}
	if a, api := c.api(of.Connector); api {
		return nil, &feedmill.Error{Kind: feedmill.ErrConflict, Detail: "Values cannot be listed for " + a.Title + ", because its API has no request for that. Preview a query instead."}
	}
	err = c.whileAwaited(ctx, lookTimeout, func(ctx context.Context) error {
		return c.withService(ctx, of, feedmill.Fetch{Workspace: workspace}, func(db Database) error {
			table, err := describe(ctx, db, view, feedmill.RulesCurrent)
			if err != nil {
				return err
			}
			tree, err := distinct(table, field, text, limit)
			if err != nil {
				return err
			}
			var found valueList
			if _, err = table.Read(ctx, tree, &found); errors.Is(err, ErrEnough) {
				err = nil
			}
			values = found.values
			return err
		})
	})
	return values, notThere(err)
}

// distinct is the query for the values of a field.
func distinct(table Table, name, text string, limit int) (*query.Tree, error) {
	fields := table.Fields()
	at := slices.IndexFunc(fields, func(f Field) bool { return f.Name == name })
	switch {
	case at < 0:
		return nil, &feedmill.Error{Kind: feedmill.ErrNotFound, Type: ProblemField, Title: "The field does not exist", Detail: "The view has no such field. GET …/fields lists its fields."}
	case fields[at].Type == columnar.TypeJSON:
		return nil, &feedmill.Error{Kind: feedmill.ErrConflict, Detail: "Values of JSON fields cannot be listed. Preview a query instead."}
	case text != "" && fields[at].Type != columnar.TypeText:
		return nil, feedmill.Invalid("", feedmill.Fault{Parameter: "q", Detail: "q applies only to text fields; this field has the type " + string(fields[at].Type) + "."})
	}
	quote := func(text string) string { v := strictjson.String(text); return string(v.Append(nil)) }
	filters := ""
	if text != "" {
		filters = `"filters":[{"op":"contains","values":[` + quote(text) + `]}],`
	}
	// A filter on groups that all of them pass makes groups of equal values.
	return resolved(`{"fields":[{"field":`+quote(name)+`,`+filters+`"having":[{"fn":"count","op":"gte","values":[0]}]}],"sort":[{"field":`+quote(name)+`}],"limit":`+strconv.Itoa(limit)+`}`, fields)
}

// resolved is a query that is written here.
func resolved(text string, fields []Field) (*query.Tree, error) {
	var faults feedmill.Faults
	doc, _ := strictjson.Read([]byte(text), strictjson.Part{}, faults.Note)
	q := query.Read(strictjson.NewObject(&doc, "", faults.Note), now())
	if err := faults.Refusal(); err != nil {
		return nil, err
	}
	tree, resolving := query.Resolve(q, Columns(fields))
	return tree, resolving.Err()
}

// valueList takes the rows of one column, as JSON.
type valueList struct {
	values []jsontext.Value
	bytes  int
}

// Columns takes nothing.
func (*valueList) Columns(context.Context, []feedmill.Column) error { return nil }

// Rows takes values, as many as the list has room for.
func (l *valueList) Rows(_ context.Context, run []columnar.Vector) error {
	for i := range run[0].Len {
		value := jsonValue(&run[0], i)
		if l.bytes += len(value); l.bytes > maxValueBytes {
			return ErrEnough
		}
		l.values = append(l.values, value)
	}
	return nil
}

// jsonValue is a value as the rows of a feed have it.
func jsonValue(v *columnar.Vector, i int) jsontext.Value {
	text := func(t string) jsontext.Value { s := strictjson.String(t); return s.Append(nil) }
	switch {
	case v.Null(i):
		return jsontext.Value("null")
	case v.Type == columnar.TypeText:
		return text(string(v.Text(i)))
	case v.Type == columnar.TypeJSON:
		return jsontext.Value(v.Text(i)).Clone()
	case v.Type == columnar.TypeNumber:
		return strconv.AppendFloat(nil, v.Floats[i], 'g', -1, 64)
	case v.Type == columnar.TypeBoolean:
		return strconv.AppendBool(nil, v.Ints[i] != 0)
	case v.Type == columnar.TypeDate:
		return text(time.Unix(v.Ints[i]*24*3600, 0).UTC().Format(time.DateOnly))
	case v.Type == columnar.TypeTimestamp:
		return text(time.UnixMicro(v.Ints[i]).UTC().Format(time.RFC3339Nano))
	case v.Wide != nil:
		return jsontext.Value(v.Wide[i].Decimal(v.Scale))
	case v.Type == columnar.TypeDecimal:
		return jsontext.Value(columnar.Int128Of(v.Ints[i]).Decimal(v.Scale))
	}
	return strconv.AppendInt(nil, v.Ints[i], 10)
}

// samples are a few values of each field of a table, from its first rows. They are an extra: where
// the rows do not come soon or are large, there are none.
func samples(ctx context.Context, table Table) [][][]byte {
	fields := table.Fields()
	doc := strictjson.Value{Kind: '['}
	for _, f := range fields[:min(len(fields), 200)] {
		field := strictjson.Value{Kind: '{'}
		field.Set("field", strictjson.String(f.Name))
		doc.Items = append(doc.Items, field)
	}
	tree, err := resolved(`{"fields":`+string(doc.Append(nil))+`,"limit":`+strconv.Itoa(samplesOf)+`}`, fields)
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, sampleTime)
	defer cancel()
	found := sampleRows{each: make([][][]byte, len(fields))}
	if _, err := table.Read(ctx, tree, &found); err != nil && !errors.Is(err, ErrEnough) {
		return nil
	}
	return found.each
}

type sampleRows struct {
	each  [][][]byte
	bytes int
}

// Columns takes nothing.
func (*sampleRows) Columns(context.Context, []feedmill.Column) error { return nil }

// Rows takes rows until they are too large.
func (s *sampleRows) Rows(_ context.Context, run []columnar.Vector) error {
	for c := range run {
		v := &run[c]
		s.bytes += vectorBytes(v)
		for i := range v.Len {
			if len(s.each[c]) == samplesEach {
				break
			}
			if v.Null(i) || v.Offsets != nil && len(v.Text(i)) > maxSample {
				continue
			}
			value := jsonValue(v, i)
			if !slices.ContainsFunc(s.each[c], func(other []byte) bool { return string(other) == string(value) }) {
				s.each[c] = append(s.each[c], value)
			}
		}
	}
	if s.bytes > sampleRowBytes {
		return ErrEnough
	}
	return nil
}
