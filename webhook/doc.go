// Package webhook receives the deliveries of Feedmill: it verifies that a
// request was signed with the subscription's secret and gives the event that
// the request carries. It needs nothing but the standard library.
//
//	verifier, err := webhook.New(os.Getenv("SIGNING_SECRET"))
//	if err != nil {
//		log.Fatal(err)
//	}
//	http.Handle("/hook", &webhook.Handler{
//		Verifier: verifier,
//		Handle: func(ctx context.Context, e webhook.Event) error {
//			return enqueue(ctx, e)
//		},
//	})
//
// A [Handler] gives the right answer to every request, well made or not. Who
// has a framework of their own calls [Verifier.Verify] with the request, or
// [Verifier.VerifyPayload] with the text and the headers.
//
// # What is verified
//
// A delivery is signed twice. The headers of Standard Webhooks (webhook-id,
// webhook-timestamp, webhook-signature) sign the payload together with the
// delivery's id and the time of the attempt, so that a request that somebody
// has recorded is worth nothing five minutes later. The header
// x-service-signature signs the payload alone, and such a request is as good
// next year as it is today. A Verifier therefore wants the first, and takes the
// second only where [Verifier.AcceptPlain] is set and none of the headers of
// Standard Webhooks is there.
//
// # Rotation
//
// A Verifier takes any number of secrets, and a request that one of them has
// signed is good. Rotate a subscription's secret, give New the old one and the
// new one, and drop the old one when the overlap is over: no delivery is lost
// on the way. The order of the secrets makes no difference.
//
// # Duplicates
//
// Deliveries come at least once. [Event.Delivery] is the same for all attempts
// of a delivery: a Handle function that keeps it in a column with a unique
// index, in the transaction of its own work, does that work once.
package webhook
