package language

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "record the violations that exist; they may only become fewer")

// record has the number of violations of each rule in each file.
const record = "testdata/violations.txt"

// maxWords is how many words a sentence can have.
const maxWords = 25

// odd are phrases that readers stumble over, with what to write instead.
var odd = []struct{ pattern, instead string }{
	{`\b(made|make|makes) (a feed )?of\b`, "created from, built from"},
	{`\bmend(s|ed)?\b`, "fix"},
	{`\banswers? (\d{3}|with \d{3})\b`, "returns"},
	{`\banswered \d{3}\b`, "returned"},
	{`\b(is|are|be|being) told\b`, "is notified"},
	{`\bhears? of\b`, "receives"},
	{`\bwho listens\b|\bthose that hear\b`, "subscribers"},
	{`\bstands? (in|here|there|for itself)\b`, "is in, appears here"},
	{`\bcounts more\b`, "takes precedence"},
	{`\b(is|are) no (valid )?[a-z]+\b[.,;:]`, "is not a valid"},
	{`\bwhoever\b|\bthey who\b|\bsomebody\b`, "name the actor: anyone, the client, the user"},
	{`\bunder way\b`, "in flight, running"},
	{`\bheld (up|back)\b`, "delayed, throttled"},
	{`\b(looks?|looked|looking) at\b`, "inspect, check"},
	{`\blets? go\b|\bgives? back\b`, "releases"},
	{`\bbroken off\b`, "canceled, timed out"},
	{`\bheed(s|ed)?\b`, "respect"},
	{`\bthis once\b`, "only once"},
	{`\bnone of HTTP's\b`, "not a valid HTTP response"},
	{`\bpersons\b`, "users"},
	{`\bformer release\b`, "previous release"},
	{`\bcalled otherwise\b|\botherwise called\b`, "has another name"},
	{`\bspares? you\b`, "you do not need"},
	{`\bby the dozen\b`, "give the number"},
	{`\bgiven up\b`, "abandoned"},
	{`\bbe it\b`, "even if"},
}

// TestLanguage checks every text that people read. A file that violates a rule more often than
// recorded fails the test, and so does a record that is higher than the number of violations.
func TestLanguage(t *testing.T) {
	found := make(map[string]int)
	examples := make(map[string][]string)
	for _, x := range readTexts(t) {
		for _, fault := range x.faults() {
			key := x.file + " " + fault.rule
			found[key]++
			examples[key] = append(examples[key], fmt.Sprintf("%s:%d: %s: %.120s", x.file, x.line, fault.advice, fault.sentence))
		}
	}
	if *update {
		writeRecord(t, found)
		return
	}
	recorded := readRecord(t)
	for _, key := range slices.Sorted(maps.Keys(found)) {
		if n, most := found[key], recorded[key]; n > most {
			t.Errorf("%s: %d violations, %d recorded; fix the new ones:\n\t%s", key, n, most, strings.Join(examples[key], "\n\t"))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(recorded)) {
		if n, most := found[key], recorded[key]; n < most {
			t.Errorf("%s: %d violations, %d recorded; run go test ./internal/language -update", key, n, most)
		}
	}
}

// TestRules checks that each rule finds what it is for, and nothing in a good text.
func TestRules(t *testing.T) {
	for _, test := range []struct {
		text text
		rule string
	}{
		{text{body: "Mend them at the source.", kind: message}, "phrase"},
		{text{body: "This is no cursor; take it from the Link header.", kind: message}, "phrase"},
		{text{body: "The source answered 403.", kind: message}, "phrase"},
		{text{body: strings.Repeat("word ", 26) + "end.", kind: prose}, "length"},
		{text{body: "Short. " + strings.Repeat("word ", 26) + "end.", kind: message}, "length"},
		{text{body: "Send Events To Endpoints", kind: heading}, "case"},
		{text{body: "limit must be between 1 and 1000; got 5000.", kind: message}, ""},
		{text{body: "Feeds on PostgreSQL and S3", kind: heading}, ""},
		{text{body: strings.Repeat("word ", 24) + "end. " + strings.Repeat("word ", 24) + "end.", kind: prose}, ""},
	} {
		var rules []string
		for _, fault := range test.text.faults() {
			rules = append(rules, fault.rule)
		}
		if got := strings.Join(rules, " "); got != test.rule {
			t.Errorf("%q violates %q, want %q", test.text.body, got, test.rule)
		}
	}
}

type fault struct{ rule, advice, sentence string }

var sentenceEnd = regexp.MustCompile(`[.!?:;]["')]?\s+`)

// faults returns the rules that a text violates.
func (x text) faults() []fault {
	var faults []fault
	if anyPhrase.MatchString(x.body) {
		for _, p := range phrases {
			if at := p.pattern.FindString(x.body); at != "" {
				faults = append(faults, fault{"phrase", fmt.Sprintf("replace %q (%s)", at, p.instead), x.body})
			}
		}
	}
	for _, sentence := range sentenceEnd.Split(x.body, -1) {
		if n := len(strings.Fields(sentence)); n > maxWords {
			faults = append(faults, fault{"length", fmt.Sprintf("%d words in a sentence", n), sentence})
		}
	}
	if x.kind == heading && titleCase(x.body) {
		faults = append(faults, fault{"case", "write headings in sentence case", x.body})
	}
	return faults
}

var capital = regexp.MustCompile(`^[A-Z][a-z]+$`)

// titleCase reports whether all long words of a heading begin with a capital letter.
func titleCase(s string) bool {
	long, capitals := 0, 0
	for _, w := range strings.Fields(s) {
		if len(w) > 3 {
			long++
			if capital.MatchString(w) {
				capitals++
			}
		}
	}
	return long >= 3 && capitals == long
}

type phrase struct {
	pattern *regexp.Regexp
	instead string
}

// phrases are the odd phrases, and anyPhrase matches a text that has one of them.
var phrases, anyPhrase = compilePhrases()

func compilePhrases() ([]phrase, *regexp.Regexp) {
	var all []phrase
	var patterns []string
	for _, o := range odd {
		all = append(all, phrase{regexp.MustCompile(`(?i)` + o.pattern), o.instead})
		patterns = append(patterns, o.pattern)
	}
	return all, regexp.MustCompile(`(?i)` + strings.Join(patterns, "|"))
}

func readRecord(t *testing.T) map[string]int {
	t.Helper()
	data, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	recorded := make(map[string]int)
	for line := range strings.Lines(string(data)) {
		var file, rule string
		var n int
		if _, err := fmt.Sscanf(line, "%s %s %d", &file, &rule, &n); err != nil {
			t.Fatalf("%s: %q: %v", record, line, err)
		}
		recorded[file+" "+rule] = n
	}
	return recorded
}

func writeRecord(t *testing.T, found map[string]int) {
	t.Helper()
	var out strings.Builder
	for _, key := range slices.SortedFunc(maps.Keys(found), cmp.Compare[string]) {
		fmt.Fprintf(&out, "%s %d\n", key, found[key])
	}
	if err := os.MkdirAll("testdata", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(record, []byte(out.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
