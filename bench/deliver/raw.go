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

// rawCeiling measures R.
func rawCeiling(url string) (float64, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	out, err := exec.Command(self, "raw", url).Output()
	if err != nil {
		return 0, fmt.Errorf("measuring the raw ceiling: %w", err)
	}
	return strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
}
