package blob_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/blob"
	"github.com/feedmill/feedmill/internal/blob/s3test"
)

// TestRestoreClaim holds that files of a restore that was interrupted belong to the store that it
// made, and to no other.
func TestRestoreClaim(t *testing.T) {
	t.Parallel()
	s, cache := s3test.New(t), t.TempDir()
	type files interface {
		Claim(ctx context.Context, store string) error
		Owner(ctx context.Context) (string, error)
		SetOwner(ctx context.Context, store string) error
	}
	folder, _ := open(t)
	for name, of := range map[string]func() files{
		"folder": func() files { return folder },
		"bucket": func() files { return openBucket(t, s, "claim", cache, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			if held, err := of().Owner(t.Context()); held != "" || err != nil {
				t.Fatalf("the owner is %q, %v", held, err)
			}
			if err := of().SetOwner(t.Context(), blob.RestoreClaim("one", "bkp_1")); err != nil {
				t.Fatal(err)
			}
			if store, backup, ok := blob.ParseRestoreClaim("one restoring bkp_1"); store != "one" || backup != "bkp_1" || !ok {
				t.Errorf("%q, %q, %v", store, backup, ok)
			}
			for _, other := range []string{"two", "on", "oneself postgres:1/2"} {
				if err := of().Claim(t.Context(), other); err == nil {
					t.Errorf("%s takes the files over", other)
				}
			}
			for range 2 {
				if err := of().Claim(t.Context(), "one postgres:1/2"); err != nil {
					t.Fatal(err)
				}
			}
			if held, err := of().Owner(t.Context()); held != "one postgres:1/2" || err != nil {
				t.Errorf("the owner is %q, %v", held, err)
			}
			if err := of().Claim(t.Context(), "two"); err == nil {
				t.Error("another store takes the files over")
			}
		})
	}
}

// TestClaimOfAForgetfulBucket holds that a bucket that does not return what it has stored is an
// outage, after a few requests.
func TestClaimOfAForgetfulBucket(t *testing.T) {
	t.Parallel()
	var puts atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			puts.Add(1)
			w.Header().Set("ETag", `"e"`)
			return
		}
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `<Error><Code>NoSuchKey</Code></Error>`)
	}))
	defer server.Close()
	b := bucketAt(t, server.URL)
	if err := b.Claim(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	if err := b.Delete(t.Context(), "df_1/a"); !errors.Is(err, feedmill.ErrUnavailable) {
		t.Errorf("without a claim: %v", err)
	}
	if puts.Load() != 2 {
		t.Errorf("%d claims were written", puts.Load())
	}
}

// TestBucketThatDeniesAccessLater holds that a key that is revoked is not called an outage.
func TestBucketThatDeniesAccessLater(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `<Error><Code>AccessDenied</Code></Error>`)
	}))
	defer server.Close()
	b := bucketAt(t, server.URL)
	_, err := b.Open(t.Context(), "df_1/a")
	if !errors.Is(err, feedmill.ErrUnavailable) || !strings.Contains(err.Error(), "denies access") || !blob.Denied(b.Outage()) {
		t.Errorf("%v; the outage is %v", err, b.Outage())
	}
}

func bucketAt(t *testing.T, endpoint string) *blob.Bucket {
	t.Helper()
	at, err := blob.ParseLocation("s3://bucket/p?region=r&pathStyle=true&endpoint=" + endpoint)
	if err != nil {
		t.Fatal(err)
	}
	b, err := blob.OpenBucket(t.Context(), blob.BucketOptions{Location: at, AccessKey: "key", SecretKey: "secret-key", Cache: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}
