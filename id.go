package feedmill

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"
	"sync"
	"time"
)

// ID is a TypeID: a prefix that names the kind of record, an underscore, and a
// UUIDv7 in 26 characters of Crockford's base 32. Ids made by one process sort
// in the order in which they were made, so an id is also a position in a list.
type ID string

// The prefixes of the ids that exist.
const (
	PrefixWorkspace    = "ws"
	PrefixKey          = "key"
	PrefixConnection   = "con"
	PrefixSQLView      = "sqv"
	PrefixDataSource   = "ds"
	PrefixDataFeed     = "df"
	PrefixRefresh      = "rfr"
	PrefixSubscription = "sub"
	PrefixEvent        = "evt"
	PrefixDelivery     = "dlv"
	PrefixAttempt      = "att"
	PrefixReplay       = "rpl"
	PrefixAudit        = "aud"
	// PrefixSession is only in the audit log.
	PrefixSession = "ses"
	PrefixLink    = "lnk"
	PrefixPreview = "prv"
	PrefixBackup  = "bkp"
	// PrefixAlert marks the subscriptions of an alert.
	PrefixAlert = "alr"
	// PrefixPortalLink is for the links that open the portal of a workspace.
	PrefixPortalLink = "ptl"
)

const idAlphabet = "0123456789abcdefghjkmnpqrstvwxyz"

// idSuffixLen is the length of 128 bits in base 32.
const idSuffixLen = 26

// NewID makes a fresh id with the given prefix.
func NewID(prefix string) ID {
	return idFromUUID(prefix, lastID.next(time.Now()))
}

// ContinueIDs makes this process's ids sort behind one that was made before, by
// a process whose clock may have been ahead. Anything but an id is passed over.
func ContinueIDs(after ID) {
	if t := after.Time(); !t.IsZero() {
		lastID.next(t.Add(time.Millisecond))
	}
}

// ParseID checks that s is an id with the given prefix. It returns
// [ErrNotFound] for anything else: a text that cannot be an id names nothing,
// and a client cannot tell it from the id of a record that is not there.
func ParseID(prefix, s string) (ID, error) {
	if !IsID(prefix, s) {
		return "", fmt.Errorf("%s id: %w", prefix, ErrNotFound)
	}
	return ID(s), nil
}

// IsID reports whether s has the form of an id with the given prefix.
func IsID(prefix, s string) bool {
	suffix, ok := strings.CutPrefix(s, prefix+"_")
	if !ok || len(suffix) != idSuffixLen || suffix[0] > '7' {
		return false
	}
	for i := range len(suffix) {
		if strings.IndexByte(idAlphabet, suffix[i]) < 0 {
			return false
		}
	}
	return true
}

// Time is the moment at which the id was made, to the millisecond.
func (id ID) Time() time.Time {
	_, suffix, _ := strings.Cut(string(id), "_")
	if len(suffix) != idSuffixLen {
		return time.Time{}
	}
	// The first ten characters hold 48 bits of milliseconds behind two
	// bits of padding.
	var ms uint64
	for i := range 10 {
		ms = ms<<5 | uint64(strings.IndexByte(idAlphabet, suffix[i]))
	}
	return time.UnixMilli(int64(ms)).UTC()
}

// FirstID is the least id with the given prefix that can have been made at t.
func FirstID(prefix string, t time.Time) ID {
	var u [16]byte
	binary.BigEndian.PutUint64(u[:8], uint64(max(t.UnixMilli(), 0))<<16)
	return idFromUUID(prefix, u)
}

// DerivedID is the id of the nth record that belongs to another: the same one each time,
// for what may be told more than once.
func DerivedID(prefix string, of ID, n int) ID {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", of, n))
	stamp := uint64(of.Time().UnixMilli())<<12 | uint64(binary.BigEndian.Uint16(sum[:]))>>4
	return idFromUUID(prefix, withStamp([16]byte(sum[16:]), stamp))
}

func idFromUUID(prefix string, u [16]byte) ID {
	hi, lo := binary.BigEndian.Uint64(u[:8]), binary.BigEndian.Uint64(u[8:])
	b := make([]byte, len(prefix)+1+idSuffixLen)
	copy(b, prefix)
	b[len(prefix)] = '_'
	for i := len(b) - 1; i > len(prefix); i-- {
		b[i] = idAlphabet[lo&31]
		lo = lo>>5 | hi<<59
		hi >>= 5
	}
	return ID(b)
}

// lastID keeps ids of this process in order even within a millisecond and when
// the clock steps back.
var lastID idClock

type idClock struct {
	mu    sync.Mutex
	stamp uint64 // milliseconds << 12 | counter
}

func (c *idClock) next(now time.Time) (u [16]byte) {
	// The 12 bits behind the milliseconds are the fraction of the
	// millisecond, so ids of several processes interleave nearly in order.
	stamp := uint64(now.UnixMilli())<<12 | uint64(now.Nanosecond()%1e6)*4096/1e6
	c.mu.Lock()
	if stamp <= c.stamp {
		stamp = c.stamp + 1
	}
	c.stamp = stamp
	c.mu.Unlock()

	rand.Read(u[8:])
	return withStamp(u, stamp)
}

// withStamp makes a UUIDv7 of one whose second half is random.
func withStamp(u [16]byte, stamp uint64) [16]byte {
	binary.BigEndian.PutUint64(u[:8], stamp>>12<<16|0x7000|stamp&0xfff)
	u[8] = u[8]&0x3f | 0x80
	return u
}

// Page asks for a part of a list that runs from the newest record to the oldest.
type Page struct {
	// Before is the last id of the page before; empty means from the newest on.
	Before ID
	Limit  int
}
