package api

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

const (
	// minExpectEvery and maxExpectEvery bound how long a feed may go without new data.
	minExpectEvery = time.Minute
	maxExpectEvery = 3650 * 24 * time.Hour
	// maxExpected is how many columns something can be expected of.
	maxExpected = 200
)

// expectView is what is expected of the rows of a feed.
type expectView struct {
	MinRows int64    `json:"minRows"`
	MaxDrop *float64 `json:"maxDrop"`
	NotNull []string `json:"notNull"`
	Unique  []string `json:"unique"`
}

func viewExpect(e feedmill.ExpectedRows) *expectView {
	if e.IsZero() {
		return nil
	}
	return &expectView{e.MinRows, e.MaxDrop, slices.Concat([]string{}, e.NotNull), slices.Concat([]string{}, e.Unique)}
}

// viewEvery is a duration as it is written, null where there is none.
func viewEvery(every time.Duration) *string {
	if every == 0 {
		return nil
	}
	return new(feedmill.FormatDuration(every))
}

// policyMembers are the members of a feed's body that are about all feeds.
var policyMembers = []string{"tableName", "keep", "schemaPolicy", "expectEvery", "expect"}

// readPolicy reads what a feed keeps and what is expected of its data.
func readPolicy(body *strictjson.Object, patch *feedmill.FeedPatch) {
	if f, ok := body.Get("tableName"); ok {
		patch.TableName = new(feedmill.ReadTableName(f))
	}
	if f, ok := body.Get("keep"); ok {
		patch.Keep = new(readKeep(f))
	}
	if f, ok := body.Get("schemaPolicy"); ok {
		policy := string(feedmill.SchemaWiden)
		if f.Kind != 'n' {
			policy, _ = f.Choice(string(feedmill.SchemaWiden), string(feedmill.SchemaFreeze))
		}
		patch.Schema = new(feedmill.SchemaPolicy(policy))
	}
	if f, ok := body.Get("expectEvery"); ok {
		patch.ExpectEvery = new(readExpectEvery(f))
	}
	if f, ok := body.Get("expect"); ok {
		patch.Expect = new(readExpect(f))
	}
}

// readExpectEvery reads how long a feed may go without new data; null is any time.
func readExpectEvery(f strictjson.Field) time.Duration {
	if f.Kind == 'n' {
		return 0
	}
	text, ok := f.Text()
	if !ok {
		return 0
	}
	every, err := feedmill.ParseDuration(text)
	switch {
	case err != nil:
		f.Fault(sentence(err.Error()))
	case every < minExpectEvery || every > maxExpectEvery:
		f.Fault("expectEvery must be between " + feedmill.FormatDuration(minExpectEvery) + " and " + feedmill.FormatDuration(maxExpectEvery) + ".")
	}
	return every
}

// readExpect reads what is expected of rows; null is nothing.
func readExpect(f strictjson.Field) (e feedmill.ExpectedRows) {
	if f.Kind == 'n' {
		return e
	}
	o, ok := f.Object()
	if !ok {
		return e
	}
	if f, ok := o.Given("minRows"); ok {
		n, _ := f.Integer(0, 1_000_000_000)
		e.MinRows = int64(n)
	}
	if f, ok := o.Given("maxDrop"); ok {
		if share, ok := readShare(f); ok {
			e.MaxDrop = &share
		}
	}
	e.NotNull, e.Unique = readExpected(o, "notNull"), readExpected(o, "unique")
	o.RefuseUnknown()
	return e
}

// readExpected reads names of columns.
func readExpected(o *strictjson.Object, member string) (names []string) {
	f, ok := o.Given(member)
	switch {
	case !ok:
	case f.Kind != '[':
		f.Fault(member + " must be an array, not " + strictjson.KindName(f.Kind) + ".")
	case len(f.Items) > maxExpected:
		f.Fault(fmt.Sprintf("%s must have at most %d elements; it has %d.", member, maxExpected, len(f.Items)))
	default:
		for _, item := range f.Elements() {
			if name, ok := item.Text(); ok {
				names = append(names, name)
			}
		}
	}
	return names
}

// readShare reads a number from 0 to 1.
func readShare(f strictjson.Field) (float64, bool) {
	if f.Kind == '0' {
		if share, err := strconv.ParseFloat(string(f.Raw), 64); err == nil && share >= 0 && share <= 1 {
			return share, true
		}
	}
	f.Fault("maxDrop must be a number between 0 and 1, such as 0.2.")
	return 0, false
}
