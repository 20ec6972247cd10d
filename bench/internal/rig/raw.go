package rig

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

// PayloadSize is about how many bytes each payload has.
const PayloadSize = 1024

const (
	rawWorkers = 64
	rawTime    = 2 * time.Second
)

// runRaw POSTs signed payloads of 1 KB from 64 workers and prints how many a
// second got an answer.
func runRaw(url string) error {
	// A configuration of TLS of its own keeps it from HTTP/2, which is slower
	// here: all exchanges share a connection.
	transport := &http.Transport{MaxIdleConnsPerHost: rawWorkers, MaxConnsPerHost: rawWorkers, TLSClientConfig: &tls.Config{}}
	payload := []byte(`{"data":"` + strings.Repeat("x", PayloadSize-11) + `"}`)
	counts := make([]int, rawWorkers)
	errs := make([]error, rawWorkers)
	var wg sync.WaitGroup
	start := time.Now()
	for worker := range rawWorkers {
		wg.Go(func() {
			sent := 0
			for time.Since(start) < rawTime && errs[worker] == nil {
				errs[worker] = postSigned(context.Background(), transport, url, payload)
				sent++
			}
			counts[worker] = sent
		})
	}
	wg.Wait()
	took := time.Since(start)
	total := 0
	for worker := range rawWorkers {
		if errs[worker] != nil {
			return errs[worker]
		}
		total += counts[worker]
	}
	fmt.Println(float64(total) / took.Seconds())
	return nil
}

// postSigned is what a sender must do at the least: sign, POST, read the answer.
func postSigned(ctx context.Context, transport http.RoundTripper, url string, payload []byte) error {
	mac := hmac.New(sha256.New, []byte("whsec_of_the_raw_client"))
	mac.Write(payload)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(payload))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Service-Signature", hex.EncodeToString(mac.Sum(nil)))
	return exchange(transport, req, http.StatusNoContent)
}

// exchange sends a request, which must be answered with a status.
func exchange(transport http.RoundTripper, req *http.Request, want int) error {
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != want {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 1024))
		return fmt.Errorf("%s %s: %s %s", req.Method, req.URL.Path, resp.Status, text)
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

// Ceiling is R, and the CPU time that one of its exchanges takes on both sides.
type Ceiling struct {
	Rate float64
	CPU  time.Duration
}

// Ceiling measures R: what a bare client can POST to the sink.
func (s *Sink) Ceiling(ctx context.Context) (c Ceiling, err error) {
	self, err := os.Executable()
	if err != nil {
		return c, err
	}
	before, err := s.Count(ctx)
	if err != nil {
		return c, err
	}
	used := CPUTime()
	raw := exec.CommandContext(ctx, self, asRaw, s.URL+Counted)
	raw.Env = append(os.Environ(), s.Trusted()...)
	raw.Stderr = os.Stderr
	out, err := raw.Output()
	if err != nil {
		return c, fmt.Errorf("measuring the raw ceiling: %w", err)
	}
	used = CPUTime() - used
	after, err := s.Count(ctx)
	if err != nil {
		return c, err
	}
	c.CPU = used / time.Duration(max(after-before, 1))
	c.Rate, err = strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
	return c, err
}
