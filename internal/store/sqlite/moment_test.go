package sqlite

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// A promise that is made after a restart is behind every change of who listens,
// also where the clock was set back in between.
func TestMomentsGoOnAfterARestart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f.db")
	db := open(t, file)
	exercise(t, db)
	var topic, newest feedmill.ID
	if err := db.row(t.Context(), `SELECT max(since), (SELECT id FROM newest_moment) FROM subscription_topics`).Scan(&topic, &newest); err != nil {
		t.Fatal(err)
	}
	if topic > newest {
		t.Errorf("a topic is from %s, and the newest moment is %s", topic, newest)
	}
	ahead := feedmill.FirstID(feedmill.PrefixEvent, time.Now().Add(2*time.Second))
	err := db.write(t.Context(), func(tx *tx) error { _, err := tx.exec(`UPDATE newest_moment SET id = ?`, string(ahead)); return err })
	if err != nil {
		t.Fatal(err)
	}
	db.Close()
	db = open(t, file)
	err = db.write(t.Context(), func(tx *tx) (err error) { newest, err = tx.moment(); return err })
	if err != nil || newest <= ahead {
		t.Errorf("the next moment after %s is %s (%v)", ahead, newest, err)
	}
}
