//go:build !amd64

package csv

// fieldEnds finds where the fields of well-formed records end: the delimiters
// and line ends that are not inside quotes. Data begins where a record does.
func (d Dialect) fieldEnds(data []byte, quoted bool, ends []uint32) []uint32 {
	return d.portableFieldEnds(data, 0, quoted, 0, ends)
}
