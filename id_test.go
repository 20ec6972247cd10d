package feedmill

import (
	"encoding/binary"
	"errors"
	"slices"
	"testing"
	"time"
)

func TestIDsSortInTheOrderTheyWereMade(t *testing.T) {
	ids := make([]ID, 10_000)
	for i := range ids {
		ids[i] = NewID(PrefixKey)
	}
	if !slices.IsSorted(ids) {
		t.Fatal("ids of one process are out of order")
	}
	if len(slices.Compact(ids)) != 10_000 {
		t.Fatal("an id was made twice")
	}
}

func TestIDsStayInOrderWhenTheClockStepsBack(t *testing.T) {
	var c idClock
	now := time.Now()
	a := idFromUUID(PrefixKey, c.next(now))
	b := idFromUUID(PrefixKey, c.next(now.Add(-time.Hour)))
	if a >= b {
		t.Fatalf("%s made after %s sorts before it", b, a)
	}
}

func TestDerivedIDs(t *testing.T) {
	a, b := NewID(PrefixDelivery), NewID(PrefixDelivery)
	first := DerivedID(PrefixAttempt, a, 1)
	if first != DerivedID(PrefixAttempt, a, 1) || !IsID(PrefixAttempt, string(first)) || !first.Time().Equal(a.Time()) {
		t.Errorf("the id for %s is %s and then %s", a, first, DerivedID(PrefixAttempt, a, 1))
	}
	if first == DerivedID(PrefixAttempt, a, 2) || first == DerivedID(PrefixAttempt, b, 1) {
		t.Error("two records have the same id")
	}
}

func TestIDTime(t *testing.T) {
	at := time.Date(2026, 11, 15, 12, 0, 0, int(345*time.Millisecond), time.UTC)
	var c idClock
	if got := idFromUUID(PrefixWorkspace, c.next(at)).Time(); !got.Equal(at) {
		t.Errorf("Time() = %v, want %v", got, at)
	}
	if first := FirstID(PrefixWorkspace, at); !first.Time().Equal(at) || first > idFromUUID(PrefixWorkspace, c.next(at)) {
		t.Errorf("FirstID(%v) = %s, which is not the least id of its time", at, first)
	}
}

// The vector is of the TypeID specification.
func TestIDTextForm(t *testing.T) {
	u := [16]byte{0x01, 0x89, 0x0a, 0x5d, 0xac, 0x96, 0x77, 0x4b, 0xbc, 0xce, 0xb3, 0x02, 0x09, 0x9a, 0x80, 0x57}
	if got, want := idFromUUID("prefix", u), ID("prefix_01h455vb4pex5vsknk084sn02q"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// The ids are version 7 of RFC 9562: milliseconds, the version and the fraction
// of the millisecond, the variant, and 62 random bits.
func TestIDsAreUUIDs(t *testing.T) {
	at := time.Date(2026, 11, 15, 12, 0, 0, int(345*time.Millisecond+250*time.Microsecond), time.UTC)
	var one, other idClock
	u, v := one.next(at), other.next(at)
	want := [8]byte{0x01, 0x9a, 0x87, 0x60, 0xe9, 0xd9, 0x74, 0x00}
	binary.BigEndian.PutUint64(want[:], uint64(at.UnixMilli())<<16|0x7000|0x400)
	if [8]byte(u[:8]) != want || [8]byte(v[:8]) != want {
		t.Errorf("the times are %x and %x, want %x", u[:8], v[:8], want)
	}
	if u[8]>>6 != 2 || v[8]>>6 != 2 {
		t.Errorf("the variants are %b and %b, want 10", u[8]>>6, v[8]>>6)
	}
	seen := make(map[byte]bool)
	for range 2000 {
		seen[one.next(at)[8]] = true
	}
	if u == v || len(seen) != 64 {
		t.Errorf("%x and %x are of one moment, and %d of 64 random values come up", u, v, len(seen))
	}
}

func TestIDsContinueBehindThoseOfAnotherClock(t *testing.T) {
	ahead := FirstID(PrefixKey, time.Now().Add(time.Hour))
	ContinueIDs(ahead)
	next := NewID(PrefixKey)
	if lead := next.Time().Sub(ahead.Time()); next <= ahead || lead < time.Millisecond || lead > 2*time.Millisecond {
		t.Errorf("%s follows %s, %v later", next, ahead, lead)
	}
	ContinueIDs("") // and everything else that is no id
	if later := NewID(PrefixKey); later <= next {
		t.Errorf("%s follows %s", later, next)
	}
}

func TestFirstIDBeforeTimeBegins(t *testing.T) {
	if got, want := FirstID(PrefixKey, time.Unix(-1, 0)), ID("key_00000000000000000000000000"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestParseID(t *testing.T) {
	good := string(NewID(PrefixKey))
	if id, err := ParseID(PrefixKey, good); err != nil || string(id) != good {
		t.Errorf("ParseID(%q): %q, %v", good, id, err)
	}
	for _, bad := range []string{
		"", "key_", "key", good[4:], "ws" + good[3:], good + "0", good[:len(good)-1],
		"key_81h455vb4pex5vsknk084sn02q", // more than 128 bits
		"key_01h455vb4pex5vsknk084sn02u", // no letter u in the alphabet
		"key_01H455VB4PEX5VSKNK084SN02Q",
	} {
		if _, err := ParseID(PrefixKey, bad); !errors.Is(err, ErrNotFound) {
			t.Errorf("ParseID(%q) = %v, want not found", bad, err)
		}
	}
}
