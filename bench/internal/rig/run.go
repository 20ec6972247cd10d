package rig

import (
	"context"
	"errors"
	"flag"
)

// Run is the main function of a benchmark that has a rig: it reads the flags, those
// of the rig's options among them, and takes the rig down at the end.
func Run(o *Options, bench func(context.Context, *Rig) error, roles ...Role) {
	o.Flags()
	Main(func(ctx context.Context) (err error) {
		flag.Parse()
		r, err := New(ctx, *o)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, r.Close()) }()
		return bench(ctx, r)
	}, roles...)
}
