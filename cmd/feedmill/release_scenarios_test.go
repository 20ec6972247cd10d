package main

import (
	"hash/crc32"
	"slices"
	"strings"
)

// The releases that have a store in testdata, by the number in its name.
const (
	firstRelease = 1 // ed34319
	lastRelease  = 2 // a6a4e16
)

// scenario is a feed that a release has created and that a later one goes on
// with. Each of its steps ends with a look at the feed, and each release must see
// the same.
type scenario struct {
	name string
	// since is the first release that can create the feed, and until the last, where later
	// ones refuse to.
	since, until int
	// definition is that of a REST feed or of a query. An upload has none. In it HOST
	// stands for the host that sources respond at, PARENT for the id of the parent, and
	// @T for the table that sql fills.
	definition string
	// service is the connection that @T is in.
	service string
	// parentDefinition is that of the REST feed that shares its source with this one.
	parentDefinition string
	// steps are what is done, the first of which creates the feed.
	steps []step
	// reads are further ways to read the feed: the parameters of its rows or, where they
	// begin with a brace, a query.
	reads []string
	// unchanged says that a step brings the data that the feed has. The first release built a
	// version from it, with the rows that came again at the end; later releases do not.
	unchanged bool
	// pinned is what a feed of the first release has after a step, by the step's number, where
	// that release took something else for the records than before.
	pinned map[int]outcome
	// corrected is why the outcome of a step is another one now, by the step's number: the
	// release published wrong rows, or failed where it should not have.
	corrected map[int]string
}

// outcome is what a feed has after a step: its rows, the type of its last error, and
// whether it has the warning that records were elsewhere, too.
type outcome struct {
	rows, problem string
	warned        bool
}

// step is one of the things that happen to a feed. Where it has no params, the
// feed is refreshed.
type step struct {
	params string // of an upload
	data   string // of an upload
	parent string // CSV that the parent gets before; it is created with the first one
	source map[string]string
	sql    []string
	// patch changes the feed's record before all else, or its columns where it is a list.
	// Where the step creates the feed it is changed afterwards, and so is post sent.
	patch string
	post  string // a request such as pause
}

func (s scenario) kind() string {
	switch {
	case s.definition == "":
		return "dataUpload"
	case strings.HasPrefix(s.definition, `{"serviceName"`):
		return "queryBuilder"
	}
	return "rest"
}

func (s scenario) host() string { return s.name + ".test" }

// table is where a scenario's rows are in the database of its service.
func (s scenario) table() string { return strings.ReplaceAll(s.name, "-", "_") }

// workspace is the one of the two that the scenario's feed is in.
func (s scenario) workspace() int { return int(crc32.ChecksumIEEE([]byte(s.name)) % 2) }

// scenariosOf are those whose feed the store of a release has. Scenarios with archives are
// functions: hundreds of processes that tests start would compress them otherwise.
func scenariosOf(release int) []scenario {
	all := slices.Concat(uploadScenarios, readingScenarios(), restScenarios, restLaterScenarios(), queryScenarios)
	return slices.DeleteFunc(all, func(s scenario) bool { return s.since > release || s.until != 0 && s.until < release })
}

// newWarnings are the codes of warnings that a release did not give. Where one of
// them is given now it is passed over; everything else must be as it was.
var newWarnings = map[int][]string{
	firstRelease: {"pinned", "duplicate-keys", "null-cursor", "cursor-ahead", "blank-lines", "nothing-exploded", "numeric-text", "other-records", "ignored-page"},
	lastRelease:  {"pinned", "duplicate-keys", "null-cursor", "cursor-ahead"},
}
