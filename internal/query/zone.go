package query

import (
	"fmt"
	"slices"
	"strconv"
	"time"
)

// Zone is the offsets of a time zone as data, so that every database groups times by the
// same days. Databases have other versions of the zones, or none.
type Zone struct {
	Name string
	// At are the seconds since 1970 at which the offset changes, in order. Offsets has the
	// seconds east of UTC before the first of them and after each.
	At      []int64
	Offsets []int64
}

// From CycleStart on, a zone repeats its changes every Cycle seconds, which are 400 years and
// whole weeks. All changes that are not rules lie before.
const (
	CycleStart int64 = 4102444800 // 2100-01-01
	Cycle      int64 = 146097 * 24 * 3600
)

// NewZone returns the offsets of a location.
func NewZone(of *time.Location) *Zone {
	z := &Zone{Name: of.String()}
	t := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).In(of)
	for {
		_, offset := t.Zone()
		if n := len(z.Offsets); n > 0 && z.Offsets[n-1] == int64(offset) {
			z.At = z.At[:n-1] // only the name has changed
		} else {
			z.Offsets = append(z.Offsets, int64(offset))
		}
		_, end := t.ZoneBounds()
		if end.IsZero() || end.Unix() >= CycleStart+Cycle {
			return z
		}
		if !end.After(t) {
			end = t.Add(time.Hour) // on the last day of leap years, ZoneBounds returns its start
		}
		z.At, t = append(z.At, end.Unix()), end
	}
}

// Offset returns the offset at a second since 1970.
func (z *Zone) Offset(second int64) int64 {
	if second >= CycleStart {
		second = CycleStart + (second-CycleStart)%Cycle
	}
	at, found := slices.BinarySearch(z.At, second)
	if found {
		at++
	}
	return z.Offsets[at]
}

// OfHours returns the zone with the offsets from the last full hour, which are the same
// most of the time.
func (z *Zone) OfHours() *Zone {
	hours := &Zone{Name: z.Name}
	for i, offset := range z.Offsets {
		offset = floorMod(offset, 3600)
		if n := len(hours.Offsets); n > 0 && hours.Offsets[n-1] == offset {
			continue
		}
		if i > 0 {
			hours.At = append(hours.At, z.At[i-1])
		}
		hours.Offsets = append(hours.Offsets, offset)
	}
	return hours
}

// Changes lists the times of the changes in SQL, or a comment where people read it.
func (z *Zone) Changes(readable bool, write func(second int64) string) string {
	if readable {
		return fmt.Sprintf("/* %d offset changes of %s */", len(z.At), z.Name)
	}
	return list(mapped(z.At, write))
}

// Years returns how many changes there are before each year, from a first year on up to that of
// the last change, and how many changes a year can have. Years are those of UTC.
func (z *Zone) Years() (first int, before []int64, most int) {
	year := func(i int) int { return time.Unix(z.At[i], 0).UTC().Year() }
	first = year(0)
	for i := range z.At {
		for first+len(before) <= year(i) {
			before = append(before, int64(i))
		}
		most = max(most, i+1-int(before[len(before)-1]))
	}
	return first, before, most
}

// Numbers lists numbers in SQL, or a comment where people read it.
func (z *Zone) Numbers(readable bool, of []int64) string {
	if readable {
		return fmt.Sprintf("/* %d numbers of %s */", len(of), z.Name)
	}
	return list(mapped(of, func(n int64) string { return strconv.FormatInt(n, 10) }))
}

func mapped[T, U any](all []T, f func(T) U) []U {
	out := make([]U, len(all))
	for i, v := range all {
		out[i] = f(v)
	}
	return out
}

// floorMod is the remainder of a division that rounds down.
func floorMod(n, by int64) int64 { return (n%by + by) % by }
