package webhook

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"
)

// Handler is an [http.Handler] for the URL of a subscription. It calls Handle
// for every request that is a delivery and answers
//
//   - 204 where Handle returns nil: the event is delivered;
//   - 410 where it returns [ErrGone]: the subscription is disabled;
//   - 503 with Retry-After where it returns a [RetryAfter];
//   - 500 where it returns any other error: the event is sent again;
//   - 400, 401, 405, 413 or 414 to requests that are no deliveries.
//
// The answer says in a few words what is wrong with a request, which whoever
// made the subscription can read in Feedmill's log of the delivery. What Handle
// returns is told to nobody but Failed.
type Handler struct {
	// Verifier says which requests are deliveries.
	Verifier *Verifier
	// Handle does with an event what is to be done. It should return within a
	// few seconds, because Feedmill waits for an answer for 15 s unless the
	// subscription says otherwise; longer work belongs into a queue. Its
	// context ends when Feedmill no longer waits.
	Handle func(ctx context.Context, e Event) error
	// Failed, where it is set, is told why a request was not answered with
	// 204, for a log. The request's body has been read.
	Failed func(r *http.Request, err error)
}

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e, err := h.Verifier.Verify(r)
	if err != nil {
		h.failed(r, err)
		refuse(w, r, err)
		return
	}
	if err := h.Handle(r.Context(), e); err != nil {
		h.failed(r, err)
		postpone(w, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (h *Handler) failed(r *http.Request, err error) {
	if h.Failed != nil {
		h.Failed(r, err)
	}
}

// refuse answers a request that is no delivery.
func refuse(w http.ResponseWriter, r *http.Request, err error) {
	status, text := http.StatusBadRequest, err.Error()
	switch {
	case errors.Is(err, ErrMethod):
		status = http.StatusMethodNotAllowed
		w.Header().Set("Allow", "GET, POST")
	case errors.Is(err, ErrTooLarge) && r.Method == http.MethodGet:
		status = http.StatusRequestURITooLong
	case errors.Is(err, ErrTooLarge):
		status = http.StatusRequestEntityTooLarge
	case errors.Is(err, ErrSignature), errors.Is(err, ErrTimestamp):
		status = http.StatusUnauthorized
		w.Header().Set("WWW-Authenticate", "Webhook-Signature")
	case !errors.Is(err, ErrMalformed):
		text = "the body could not be read" // the error can name addresses inside
	}
	http.Error(w, text, status)
}

// postpone answers a delivery that was not handled.
func postpone(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	if errors.Is(err, ErrGone) {
		status = http.StatusGone
	} else if wait, ok := errors.AsType[RetryAfter](err); ok {
		status = http.StatusServiceUnavailable
		seconds := math.Ceil(max(time.Duration(wait), 0).Seconds())
		w.Header().Set("Retry-After", strconv.FormatFloat(seconds, 'f', 0, 64))
	}
	http.Error(w, http.StatusText(status), status)
}
