package rig

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// The kinds of endpoints that a sink has; each is a prefix of paths.
const (
	// Counted reads, counts and returns 204.
	Counted = "/counted/"
	// Timed does the same and notes how long ago the payload was sent.
	Timed = "/timed/"
	// Hanging reads and never returns.
	Hanging = "/hanging/"
	// Failing returns 500.
	Failing = "/failing/"
)

// runSink is the process of the endpoints. With the files of a certificate and its
// key they speak TLS, and only what is asked about them does not.
func runSink(certificate ...string) error {
	var count atomic.Int64
	var mu sync.Mutex
	var times []time.Duration
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+Counted, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		count.Add(1)
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("POST "+Timed, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		now := time.Now().UnixNano()
		sent, err := sentAt(body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		mu.Lock()
		times = append(times, time.Duration(now-sent))
		mu.Unlock()
		count.Add(1)
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("POST "+Hanging, func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	})
	mux.HandleFunc("POST "+Failing, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusInternalServerError)
	})
	mux.HandleFunc("GET /count", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, count.Load()) })
	mux.HandleFunc("GET /times", func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		json.NewEncoder(w).Encode(times)
		times = times[:0]
	})
	control, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	endpoints := "http://" + control.Addr().String()
	if len(certificate) == 2 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		endpoints = "https://" + l.Addr().String()
		go http.ServeTLS(l, mux, certificate[0], certificate[1])
	}
	fmt.Printf("http://%s %s\n", control.Addr(), endpoints)
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0) // the benchmark is gone
	}()
	return http.Serve(control, mux)
}

// sentAt reads out of a payload when it was sent; see stampedData.
func sentAt(body []byte) (int64, error) {
	_, rest, _ := bytes.Cut(body, []byte(`"sent":"`))
	digits, _, _ := bytes.Cut(rest, []byte(`"`))
	return strconv.ParseInt(string(digits), 10, 64)
}

// Sink is a running sink.
type Sink struct {
	*process
	// URL is that of its endpoints.
	URL     string
	control string
	// roots is the file of the certificate that its clients trust, where the
	// endpoints speak TLS.
	roots string
}

// StartSink starts a sink.
func StartSink() (*Sink, error) { return startSink() }

// StartTLSSink starts a sink whose endpoints speak TLS.
func (r *Rig) StartTLSSink() (*Sink, error) {
	certificate, key, err := r.certificate()
	if err != nil {
		return nil, err
	}
	s, err := startSink(certificate, key)
	if err != nil {
		return nil, err
	}
	s.roots = certificate
	return s, nil
}

func startSink(certificate ...string) (*Sink, error) {
	p, err := StartRole(asSink, certificate...)
	if err != nil {
		return nil, err
	}
	control, endpoints, _ := strings.Cut(p.Said, " ")
	return &Sink{process: p.process, URL: endpoints, control: control}, nil
}

// Trusted is what the environment of a client says for it to trust the sink.
func (s *Sink) Trusted() (env []string) {
	if s.roots != "" {
		env = append(env, "SSL_CERT_FILE="+s.roots)
	}
	return env
}

// Count is how many payloads the counted and timed endpoints have got.
func (s *Sink) Count(ctx context.Context) (n int, err error) {
	err = s.get(ctx, "/count", &n)
	return n, err
}

// Times returns how long payloads took to the timed endpoints, and forgets them.
func (s *Sink) Times(ctx context.Context) (times []time.Duration, err error) {
	err = s.get(ctx, "/times", &times)
	return times, err
}

func (s *Sink) get(ctx context.Context, path string, v any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.control+path, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return json.NewDecoder(resp.Body).Decode(v)
}

const (
	// lookEvery is short against a round and costs it little.
	lookEvery = 10 * time.Millisecond
	// deliveryPatience is how long nothing may arrive before it is given up.
	deliveryPatience = 30 * time.Second
)

// WaitFor waits until the sink has got n payloads. It calls seen, where there
// is one, with every number on the way that it sees.
func (s *Sink) WaitFor(ctx context.Context, n int, seen func(got int)) error {
	last, since := -1, time.Now()
	for {
		got, err := s.Count(ctx)
		if err != nil {
			return err
		}
		if seen != nil {
			seen(got)
		}
		if got >= n {
			return nil
		}
		if got != last {
			last, since = got, time.Now()
		}
		if time.Since(since) > deliveryPatience {
			return fmt.Errorf("the sink got %d of %d and no more for %v", got, n, deliveryPatience)
		}
		time.Sleep(lookEvery)
	}
}
