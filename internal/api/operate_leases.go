package api

import (
	"context"
	"slices"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// leases are the leases of each kind. The owners of slots are known from the reports.
func (s *Server) leases(ctx context.Context, reports []processState) ([]client.Lease, error) {
	held, err := s.Store.HeldLeases(ctx, now())
	if err != nil {
		return nil, err
	}
	names := make(map[string]string)
	for _, r := range reports {
		names[r.Holder] = r.Name
		if !r.silent() {
			held = append(held, feedmill.HeldLease{Kind: feedmill.LeaseSlots, Holder: r.Holder, Count: int64(r.Slots)})
		}
	}
	var all []client.Lease
	for _, kind := range feedmill.LeaseKinds {
		l := client.Lease{Name: kind, Owners: []string{}, Term: feedmill.LeaseTerms[kind].Seconds()}
		for _, h := range held {
			if h.Kind != kind || h.Count == 0 {
				continue
			}
			l.Count += h.Count
			if name, ok := names[h.Holder]; ok {
				l.Owners = append(l.Owners, name)
			}
		}
		slices.Sort(l.Owners)
		l.Owners = slices.Compact(l.Owners)
		all = append(all, l)
	}
	return all, nil
}

// addFileStatus adds the counts of stored files.
func (s *Server) addFileStatus(ctx context.Context, to *client.Scrub) error {
	f, err := s.Store.FileStatus(ctx)
	if err != nil {
		return err
	}
	damaged := to.Damaged
	*to = client.Scrub{
		Files: f.Files, Bytes: f.Bytes, Verified: f.Verified, VerifiedBytes: f.VerifiedBytes, Writing: f.Writing,
		Unreferenced: f.Unreferenced, UnreferencedBytes: f.UnreferencedBytes, Deleting: f.Deleting, Damaged: damaged,
	}
	return nil
}
