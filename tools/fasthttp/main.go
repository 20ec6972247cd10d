// Command fasthttp compares the CPU time of an exchange by Express, the HTTP client of deliveries,
// with that of fasthttp. It is a module of its own, so that the program does not depend on fasthttp.
package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/egress"
)

const (
	// A round is so many exchanges of so many goroutines.
	exchangesOfRound = 16_000
	senders          = 32
	timeout          = time.Minute
	// sinkVariable makes the program be the endpoints.
	sinkVariable = "FEEDMILL_BENCH_SINK"
)

var (
	body   = bytes.Repeat([]byte("x"), 300)
	header = [][2]string{
		{"Content-Type", "application/json"},
		{"User-Agent", "Feedmill"},
		{"Webhook-Id", "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W"},
		{"Webhook-Signature", "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4="},
		{"Webhook-Timestamp", "1674087231"},
	}
)

func main() {
	rounds := flag.Int("rounds", 9, "rounds of each client and protocol; the median counts")
	flag.Parse()
	do := func() error { return run(*rounds) }
	if os.Getenv(sinkVariable) != "" {
		do = runSink
	}
	if err := do(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// runSink is the process of the endpoints, so that their CPU time is not in that of the clients. It
// ends with its standard input.
func runSink() error {
	respond := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusNoContent)
	})
	plain, secure := httptest.NewServer(respond), httptest.NewTLSServer(respond)
	fmt.Println(plain.URL, secure.URL, base64.StdEncoding.EncodeToString(secure.Certificate().Raw))
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

// startSink starts the endpoints. It returns their URLs and the certificate to trust.
func startSink() (urls []*url.URL, roots *x509.CertPool, stop func() error, err error) {
	sink := exec.Command(os.Args[0])
	sink.Env, sink.Stderr = append(os.Environ(), sinkVariable+"=1"), os.Stderr
	in, inErr := sink.StdinPipe()
	out, outErr := sink.StdoutPipe()
	if err := errors.Join(inErr, outErr, sink.Start()); err != nil {
		return nil, nil, nil, err
	}
	var plain, secure, encoded string
	_, err = fmt.Fscan(out, &plain, &secure, &encoded)
	raw, rawErr := base64.StdEncoding.DecodeString(encoded)
	certificate, certificateErr := x509.ParseCertificate(raw)
	if err := errors.Join(err, rawErr, certificateErr); err != nil {
		return nil, nil, nil, errors.Join(err, in.Close(), sink.Wait())
	}
	roots = x509.NewCertPool()
	roots.AddCert(certificate)
	for _, text := range []string{plain, secure} {
		u, err := url.Parse(text)
		if err != nil {
			return nil, nil, nil, errors.Join(err, in.Close(), sink.Wait())
		}
		urls = append(urls, u)
	}
	return urls, roots, func() error { return errors.Join(in.Close(), sink.Wait()) }, nil
}

func run(rounds int) (err error) {
	urls, roots, stop, err := startSink()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	express, err := newExpress(roots)
	if err != nil {
		return err
	}
	clients := []struct {
		name string
		send func(*url.URL) (int, error)
	}{{"Express", express}, {"fasthttp", newFasthttp(roots)}}
	for _, to := range urls {
		costs := make([][]time.Duration, len(clients))
		for range rounds {
			for i, c := range clients {
				cost, err := round(func() (int, error) { return c.send(to) })
				if err != nil {
					return fmt.Errorf("%s: %w", c.name, err)
				}
				costs[i] = append(costs[i], cost)
			}
		}
		for i, c := range clients {
			slices.Sort(costs[i])
			median := costs[i][rounds/2]
			fmt.Printf("%s, %s: %.1f µs of CPU time an exchange\n", c.name, to.Scheme, float64(median.Nanoseconds())/1000)
		}
	}
	return nil
}

// newExpress returns a function that makes an exchange by Express and returns the status.
func newExpress(roots *x509.CertPool) (func(*url.URL) (int, error), error) {
	c, err := egress.New(egress.Options{Allow: []string{"127.0.0.1"}, RootCAs: roots})
	if err != nil {
		return nil, err
	}
	express := c.Express(4*senders, 1<<20)
	return func(to *url.URL) (int, error) {
		var timing feedmill.Timing
		request := &feedmill.HTTPRequest{Workspace: "ws", Method: http.MethodPost, URL: to, Header: header, Body: body}
		a, err := express.Exchange(context.Background(), time.Now().Add(timeout), request, &timing)
		if err != nil {
			return 0, err
		}
		return a.Status, a.Body.Close()
	}, nil
}

// newFasthttp returns the same function for fasthttp.
func newFasthttp(roots *x509.CertPool) func(*url.URL) (int, error) {
	c := &fasthttp.Client{MaxConnsPerHost: 4 * senders, TLSConfig: &tls.Config{RootCAs: roots}, NoDefaultUserAgentHeader: true}
	return func(to *url.URL) (int, error) {
		request, response := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
		defer fasthttp.ReleaseRequest(request)
		defer fasthttp.ReleaseResponse(response)
		request.SetRequestURI(to.String())
		request.Header.SetMethod(http.MethodPost)
		for _, h := range header {
			request.Header.Set(h[0], h[1])
		}
		request.SetBodyRaw(body)
		err := c.DoTimeout(request, response, timeout)
		return response.StatusCode(), err
	}
}

// round makes the exchanges of a round and returns the CPU time of one.
func round(send func() (int, error)) (time.Duration, error) {
	before := cpuTime()
	errs := make([]error, senders)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			for range exchangesOfRound / senders {
				status, err := send()
				if err == nil && status != http.StatusNoContent {
					err = fmt.Errorf("the sink returned %d", status)
				}
				if err != nil {
					errs[i] = err
					return
				}
			}
		})
	}
	wg.Wait()
	return (cpuTime() - before) / exchangesOfRound, errors.Join(errs...)
}

// cpuTime is the CPU time of this process.
func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // of the calling process it cannot fail
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
