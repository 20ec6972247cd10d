package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
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

const (
	rawWorkers = 64
	rawTime    = 2 * time.Second
	payload1K  = 1024
)

// runRaw POSTs signed payloads of 1 KB from 64 workers and prints how many a
// second got an answer.
func runRaw(url string) error {
	transport := &http.Transport{MaxIdleConnsPerHost: rawWorkers, MaxConnsPerHost: rawWorkers}
	payload := []byte(`{"data":"` + strings.Repeat("x", payload1K-11) + `"}`)
	key := []byte("whsec_of_the_raw_ceiling")
	var total int
	var mu sync.Mutex
	var wg sync.WaitGroup
	start := time.Now()
	for range rawWorkers {
		wg.Go(func() {
			sent := 0
			for time.Since(start) < rawTime {
				mac := hmac.New(sha256.New, key)
				mac.Write(payload)
				req, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(payload))
				if err != nil {
					return
				}
				req.Header.Set("Content-Type", "application/json")
				req.Header.Set("X-Service-Signature", hex.EncodeToString(mac.Sum(nil)))
				resp, err := transport.RoundTrip(req)
				if err != nil {
					return
				}
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
				sent++
			}
			mu.Lock()
			total += sent
			mu.Unlock()
		})
	}
	wg.Wait()
	fmt.Println(float64(total) / time.Since(start).Seconds())
	return nil
}

// ceiling is R, and the CPU time that one of its exchanges takes on both sides.
type ceiling struct {
	rate float64
	cpu  time.Duration
}

// rawCeiling measures R.
func rawCeiling(s sink) (c ceiling, err error) {
	self, err := os.Executable()
	if err != nil {
		return c, err
	}
	before, err := s.count()
	if err != nil {
		return c, err
	}
	used := cpuTime(s.pid())
	raw := exec.Command(self, "raw", s.url)
	out, err := raw.Output()
	if err != nil {
		return c, fmt.Errorf("measuring the raw ceiling: %w", err)
	}
	used = cpuTime(s.pid()) - used + raw.ProcessState.UserTime() + raw.ProcessState.SystemTime()
	after, err := s.count()
	if err != nil {
		return c, err
	}
	c.cpu = used / time.Duration(after-before)
	c.rate, err = strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
	return c, err
}
