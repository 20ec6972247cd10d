package fetch

import (
	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// checkParentIdentity refuses parents whose rows have the same columns of them, where these are
// what tells their rows apart.
func (r *run) checkParentIdentity(parents []parent) error {
	if !r.job.CompareRows || r.spec.Incremental == nil {
		return nil
	}
	seen := make(map[string]int)
	for i, p := range parents {
		var columns []byte
		for _, c := range p.with {
			columns = append(append(columns, c.JSON...), '\n')
		}
		other, known := seen[string(columns)]
		if known && parents[other].key != p.key {
			return spec.Fail("each", nil, "The rows %d and %d of each.in have the same values in each.include. %s", other+1, i+1, spec.NoKeyDetail)
		}
		if !known {
			seen[string(columns)] = i
		}
	}
	return nil
}
