package egress

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

const (
	// sinkVariable makes the test program be the endpoint of BenchmarkClients, so that the CPU
	// time of the endpoint is not in that of the client.
	sinkVariable = "FEEDMILL_BENCH_SINK"
	// A round is so many exchanges of so many goroutines.
	exchangesOfRound = 16_000
	senders          = 32
)

func init() {
	if os.Getenv(sinkVariable) == "" {
		return
	}
	answer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusNoContent)
	})
	plain, secure := httptest.NewServer(answer), httptest.NewTLSServer(answer)
	io.WriteString(os.Stdout, plain.URL+" "+secure.URL+" "+base64.StdEncoding.EncodeToString(secure.Certificate().Raw)+"\n")
	io.Copy(io.Discard, os.Stdin) // until the benchmark ends
	os.Exit(0)
}

// startSink starts the endpoint and returns its addresses, and whom to trust.
func startSink(b *testing.B) (plain, secure string, roots *x509.CertPool) {
	b.Helper()
	sink := exec.Command(os.Args[0])
	sink.Env = append(os.Environ(), sinkVariable+"=1")
	in, inErr := sink.StdinPipe()
	out, outErr := sink.StdoutPipe()
	if inErr != nil || outErr != nil || sink.Start() != nil {
		b.Fatal("the endpoint cannot be started", inErr, outErr)
	}
	b.Cleanup(func() {
		in.Close()
		sink.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	said := strings.Fields(line)
	if err != nil || len(said) != 3 {
		b.Fatalf("the endpoint says %q, %v", line, err)
	}
	raw, err := base64.StdEncoding.DecodeString(said[2])
	if err != nil {
		b.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(raw)
	if err != nil {
		b.Fatal(err)
	}
	roots = x509.NewCertPool()
	roots.AddCert(certificate)
	return said[0], said[1], roots
}

// BenchmarkClients compares the CPU time of an exchange by Express with that of one by net/http
// that speaks HTTP/1.1 only, in turns: -benchtime 9x makes nine rounds of each. It reports medians.
func BenchmarkClients(b *testing.B) {
	plain, secure, roots := startSink(b)
	c, err := New(Options{Allow: []string{"127.0.0.1"}, RootCAs: roots})
	if err != nil {
		b.Fatal(err)
	}
	express := c.Express(4*senders, 1<<20)
	defer express.CloseIdleConnections()
	transport := &http.Transport{
		MaxIdleConns: 4 * senders, MaxIdleConnsPerHost: 2 * senders, TLSClientConfig: &tls.Config{RootCAs: roots}, DisableCompression: true,
		Protocols: new(http.Protocols),
	}
	transport.Protocols.SetHTTP1(true)
	defer transport.CloseIdleConnections()
	body := bytes.Repeat([]byte("x"), 300)
	header := [][2]string{
		{"Content-Type", "application/json"},
		{"User-Agent", "Feedmill"},
		{"Webhook-Id", "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W"},
		{"Webhook-Signature", "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4="},
		{"Webhook-Timestamp", "1674087231"},
	}
	sends := map[string]func(*url.URL) (int, error){
		"express": func(to *url.URL) (int, error) {
			var timing feedmill.Timing
			a, err := express.Exchange(context.Background(), time.Now().Add(time.Minute), &feedmill.HTTPRequest{Workspace: "ws", Method: http.MethodPost, URL: to, Header: header, Body: body}, &timing)
			if err != nil {
				return 0, err
			}
			return a.Status, a.Body.Close()
		},
		"net/http": func(to *url.URL) (int, error) {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, to.String(), bytes.NewReader(body))
			if err != nil {
				return 0, err
			}
			for _, h := range header {
				r.Header[h[0]] = []string{h[1]}
			}
			a, err := transport.RoundTrip(r)
			if err != nil {
				return 0, err
			}
			io.Copy(io.Discard, a.Body)
			return a.StatusCode, a.Body.Close()
		},
	}
	costs := make(map[string][]float64)
	for b.Loop() {
		for _, client := range []string{"express", "net/http"} {
			for protocol, address := range map[string]string{"HTTP": plain, "TLS": secure} {
				to, err := url.Parse(address)
				if err != nil {
					b.Fatal(err)
				}
				name := client + "-" + protocol + "-µs"
				costs[name] = append(costs[name], costOf(b, func() (int, error) { return sends[client](to) }))
			}
		}
	}
	for name, all := range costs {
		slices.Sort(all)
		b.ReportMetric(all[len(all)/2], name)
	}
}

// costOf is how many microseconds of CPU time an exchange takes, in a round.
func costOf(b *testing.B, send func() (int, error)) float64 {
	b.Helper()
	before := processTime(b)
	var wg sync.WaitGroup
	for range senders {
		wg.Go(func() {
			for range exchangesOfRound / senders {
				if status, err := send(); err != nil || status != http.StatusNoContent {
					b.Errorf("the endpoint returned %d, %v", status, err)
					return
				}
			}
		})
	}
	wg.Wait()
	return float64((processTime(b) - before).Nanoseconds()) / 1000 / exchangesOfRound
}

func processTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
