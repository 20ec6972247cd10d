package share

import "context"

type holderKey struct{}

type holding struct {
	holder     string
	background bool
}

// For says whose work is done under ctx.
func For(ctx context.Context, holder string) context.Context {
	present.see(holder)
	return context.WithValue(ctx, holderKey{}, holding{holder: holder})
}

// InBackground is [For] where nobody waits for the answer: the work can wait for
// as long as it has to, however much of the holder's waits already.
func InBackground(ctx context.Context, holder string) context.Context {
	present.see(holder)
	return context.WithValue(ctx, holderKey{}, holding{holder: holder, background: true})
}

// Holder is whose work is done under ctx, empty where nobody has said so.
func Holder(ctx context.Context) string {
	h, _ := ctx.Value(holderKey{}).(holding)
	return h.holder
}

// Background reports whether nobody waits for the work that is done under ctx.
func Background(ctx context.Context) bool {
	h, _ := ctx.Value(holderKey{}).(holding)
	return h.background
}
