package main

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// killedStarts starts the program on the store of a release, and kills it twice: in
// the middle of its first transaction, and as soon as it listens.
func killedStarts(t *testing.T, dir, data, database string, env []string) {
	t.Helper()
	inTransaction, release := awaitTransaction(t, data, database)
	p := kill(t, dir, data, env, inTransaction)
	release()
	if strings.Contains(p.stdout.String(), listens) {
		t.Log("the first start was over before it was killed")
	}
	kill(t, dir, data, env, func() bool { return false })
}

const listens = "is listening on"

// kill starts the program and kills it at a moment, or when it listens.
func kill(t *testing.T, dir, data string, env []string, moment func() bool) *process {
	t.Helper()
	cmd, err := command(t.Context(), dir, append(slices.Clone(env), leashEnv+"=1"), "serve", "--listen=127.0.0.1:0", "--data="+data)
	if err != nil {
		t.Fatal(err)
	}
	p, err := begin(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer p.kill()
	eventually(t, "the moment to kill the program comes", func() bool {
		select {
		case <-p.exited:
			t.Fatalf("the program ended by itself: %s", p.stderr.String())
		default:
		}
		return moment() || strings.Contains(p.stdout.String(), listens)
	})
	return p
}

// awaitTransaction reports whether a store is being migrated. PostgreSQL is made to
// stop there, in front of the first change of the feeds' table, until release.
func awaitTransaction(t *testing.T, data, database string) (inTransaction func() bool, release func()) {
	t.Helper()
	if !strings.HasPrefix(database, "postgres") {
		return func() bool {
			info, err := os.Stat(filepath.Join(data, "feedmill.db-wal"))
			return err == nil && info.Size() > 0
		}, func() {}
	}
	db, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close(context.WithoutCancel(t.Context())) })
	exec := func(statement string) {
		t.Helper()
		if _, err := db.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	exec(`BEGIN`)
	exec(`LOCK TABLE feeds IN ACCESS SHARE MODE`)
	return func() (waits bool) {
		const query = `SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`
		if err := db.QueryRow(t.Context(), query).Scan(&waits); err != nil {
			t.Fatal(err)
		}
		return waits
	}, func() { exec(`ROLLBACK`) }
}

// scenariosGoOn holds the feeds of the release's scenarios to what the release saw:
// when it left them, and after each further step.
func scenariosGoOn(t *testing.T, p *player, has released) {
	t.Helper()
	p.reconnect(t)
	original := has.Release == firstRelease && !has.Through
	rules := feedmill.RulesFirst
	if original {
		rules = feedmill.RulesOriginal
	}
	for _, s := range scenariosOf(has.Release) {
		t.Run(s.name, func(t *testing.T) {
			then := has.Played[s.name]
			if then == nil {
				t.Fatal("the store has no such feed; make it again with TestMakeStore")
			}
			p.again(t, s)
			before := p.look(t, s, then.ID)
			before.Requests = then.Before.Requests // no one was asked for a look
			compareSeen(t, has.Release, "as it was left", then.Before, before)
			want := then.After
			if has.Through && then.Drifted != nil && s.until == 0 {
				want = then.Drifted
			}
			for i, after := range p.goOn(t, s, *then) {
				if why := s.corrected[i+1]; why != "" {
					if difference(t, has.Release, want[i], after) == "" {
						t.Errorf("step %d is as it was, but the scenario says: %s", i+1, why)
					}
					continue
				}
				if pinned, ok := s.pinned[i+1]; ok && original {
					if got := outcomeOf(after); got != pinned {
						t.Errorf("after step %d the feed has %+v, want %+v", i+1, got, pinned)
					}
					continue
				}
				if s.unchanged && original {
					for _, look := range []*seen{&want[i], &after} {
						delete(look.Record, "version")
						look.Rows = sortedLines(look.Rows)
					}
				}
				compareSeen(t, has.Release, "after step "+string(rune('1'+i)), want[i], after)
			}
			rulesStay(t, p, s, then.ID, rules)
		})
	}
	for _, key := range p.keys {
		f, err := p.client(key).CreateDataFeed(t.Context(), client.Upload{Format: "csv", Name: "New", Data: strings.NewReader("id\n1\n")})
		if err != nil || f.Rules != int(feedmill.RulesCurrent) {
			t.Errorf("a new feed has the rules %d, want %d; %v", f.Rules, feedmill.RulesCurrent, err)
		}
	}
}

// outcomeOf is what a look at a feed has seen of the outcome of a step.
func outcomeOf(look seen) (o outcome) {
	o.rows = look.Rows
	o.problem, _ = look.Record["lastError"].(string)
	o.warned = slices.ContainsFunc(look.Warnings, func(w warning) bool { return w.Code == "other-records" })
	return o
}

// sortedLines is a text with its lines in order.
func sortedLines(text string) string {
	return strings.Join(slices.Sorted(strings.Lines(text)), "")
}

// rulesStay holds a feed of a release to the first rules, also when something else
// in its record changes.
func rulesStay(t *testing.T, p *player, s scenario, id string, want feedmill.Rules) {
	t.Helper()
	if rules := p.record(t, s, id)["rules"]; rules != float64(want.Number()) {
		t.Errorf("the feed has the rules %v, want %d", rules, want.Number())
	}
	if status, text := p.call(t, s, http.MethodPatch, "/data_feeds/"+id, `{"description":"changed"}`); status != http.StatusOK {
		t.Errorf("a new description: %d %s", status, text)
	}
	if record := p.record(t, s, id); record["rules"] != float64(want.Number()) || record["description"] != "changed" {
		t.Errorf("after a change of its description the feed has the rules %v, want %d", record["rules"], want.Number())
	}
}

// compareSeen holds what is seen now to what a release saw.
func compareSeen(t *testing.T, release int, when string, then, now seen) {
	t.Helper()
	if diff := difference(t, release, then, now); diff != "" {
		t.Errorf("%s (-release +now):\n%s", when, diff)
	}
}

// difference is what is not as a release saw it. The API has grown by members since,
// and by warnings.
func difference(t *testing.T, release int, then, now seen) string {
	t.Helper()
	a, b := withoutNew(release, decoded(t, then)), withoutNew(release, decoded(t, now))
	return cmp.Diff(a, within(a, b))
}

// withoutNew is a document without the warnings that a release does not give.
func withoutNew(release int, document any) any {
	switch document := document.(type) {
	case map[string]any:
		for name, value := range document {
			document[name] = withoutNew(release, value)
		}
	case []any:
		return slices.DeleteFunc(document, func(element any) bool {
			w, ok := withoutNew(release, element).(map[string]any)
			code, _ := w["Code"].(string)
			return ok && slices.Contains(newWarnings[release], code)
		})
	}
	return document
}
