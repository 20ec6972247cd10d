package kafka

import (
	"bytes"
	"context"
	"strconv"

	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/feedmill/feedmill/internal/destination/broker"
)

// mechanisms are the SASL mechanisms by their names.
var mechanisms = map[string]func(username, password string) sasl.Mechanism{
	"":              newPlain,
	"PLAIN":         newPlain,
	"SCRAM-SHA-256": func(u, p string) sasl.Mechanism { return bounded{scram.Auth{User: u, Pass: p}.AsSha256Mechanism()} },
	"SCRAM-SHA-512": func(u, p string) sasl.Mechanism { return bounded{scram.Auth{User: u, Pass: p}.AsSha512Mechanism()} },
}

func newPlain(username, password string) sasl.Mechanism {
	return plain.Auth{User: username, Pass: password}.AsMechanism()
}

// maxIterations is the maximum number of hashes that a broker may ask for. Kafka asks for
// 4,096 by default and at most 16,384.
const maxIterations = 100_000

// bounded is a SCRAM mechanism that a broker cannot make compute for long.
type bounded struct{ sasl.Mechanism }

func (b bounded) Authenticate(ctx context.Context, host string) (sasl.Session, []byte, error) {
	session, first, err := b.Mechanism.Authenticate(ctx, host)
	return boundedSession{session}, first, err
}

type boundedSession struct{ sasl.Session }

func (s boundedSession) Challenge(text []byte) (done bool, response []byte, err error) {
	for part := range bytes.SplitSeq(text, []byte(",")) {
		count, ok := bytes.CutPrefix(part, []byte("i="))
		if n, err := strconv.Atoi(string(count)); ok && (err != nil || n > maxIterations) {
			return false, nil, &broker.Failure{Class: broker.ClassAuth, Detail: "the broker asks for too many SCRAM iterations"}
		}
	}
	if done, response, err = s.Session.Challenge(text); err != nil {
		return false, nil, &broker.Failure{Class: broker.ClassAuth, Detail: refusedCredentials}
	}
	return done, response, nil
}

const refusedCredentials = "the broker refused the credentials or their mechanism"
