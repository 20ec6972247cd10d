package blob

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"os"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/feedmill/feedmill"
)

const (
	// maxObject is the largest object that S3 accepts in one request. Objects are written in one
	// request, so that an interrupted upload leaves nothing in the bucket.
	maxObject = 5 << 30
	// requestTime is how long a request without a body may take.
	requestTime = 30 * time.Second
	// stallTime is how long a request may wait for the next bytes to be sent or received.
	stallTime = time.Minute
	// tries is how often a request is sent that fails for a reason that can pass.
	tries = 3
	// maxExtracts is how many extracts are made at a time, because their ranges are held in memory.
	maxExtracts = 2
	// sumKey is the metadata of an object with its SHA-256.
	sumKey = "Sha256"
	// ownerName is the name of the object with the id of the store that the files belong to.
	ownerName = "feedmill-store"
)

// BucketOptions are what a bucket is opened with.
type BucketOptions struct {
	Location
	// AccessKey and SecretKey are the credentials. If they are empty, those of the AWS
	// environment variables and the shared credentials file are used.
	AccessKey, SecretKey string
	// CredentialsFile, if set, is a shared credentials file with those of the bucket.
	CredentialsFile string
	// Cache is the folder for local copies, and CacheBytes how many bytes they may take.
	Cache      string
	CacheBytes int64
	// Take, where it is set, is called before bytes are written to the disk.
	Take func(n int64) error
	// Large, if set, is the size in bytes from which drafts do not stay in memory.
	Large int64
	// StallTime is how long a request may wait for the next bytes, a minute if it is zero.
	StallTime time.Duration
	// Metrics, if set, has the metrics of the bucket and the cache.
	Metrics prometheus.Registerer
}

// Bucket keeps blobs as objects of an S3 bucket, with a cache of local copies. Its errors are
// like those of [Folder]; a bucket that does not respond is [feedmill.ErrUnavailable].
type Bucket struct {
	client *minio.Client
	at     Location
	cache  *cache
	// extracts has one for each extract that is being made.
	extracts chan struct{}
	// owner is the claim that the bucket must hold before anything is written or deleted.
	owner   atomic.Pointer[string]
	claimed atomic.Bool
	// outage is the last error of the bucket, nil after a request that succeeded.
	outage atomic.Pointer[outage]
}

// OpenBucket opens a bucket. It makes no request.
func OpenBucket(ctx context.Context, o BucketOptions) (*Bucket, error) {
	endpoint := o.Endpoint
	if endpoint == "" {
		endpoint = "s3.amazonaws.com"
	}
	lookup := minio.BucketLookupAuto
	if o.PathStyle {
		lookup = minio.BucketLookupPath
	}
	cached, err := openCache(ctx, o.Cache, o.CacheBytes, o.Metrics)
	if err != nil {
		return nil, fmt.Errorf("open the cache of files: %w", err)
	}
	cached.folder.Take, cached.folder.Large = o.Take, o.Large
	transport := &measuredTransport{&http.Transport{
		DialContext: dialer(cmp.Or(o.StallTime, stallTime)), TLSHandshakeTimeout: 10 * time.Second,
		MaxIdleConnsPerHost: 32, IdleConnTimeout: 90 * time.Second, DisableCompression: true,
	}, cached.metrics}
	client, err := minio.New(endpoint, &minio.Options{
		Creds: o.credentials(), Secure: !o.Plain, Region: o.Region, BucketLookup: lookup, Transport: transport, MaxRetries: tries,
	})
	if err != nil {
		return nil, fmt.Errorf("open bucket: %w", errors.Join(err, cached.folder.Close()))
	}
	return &Bucket{client: client, at: o.Location, cache: cached, extracts: make(chan struct{}, maxExtracts)}, nil
}

func (o BucketOptions) credentials() *credentials.Credentials {
	switch {
	case o.CredentialsFile != "":
		return credentials.NewFileAWSCredentials(o.CredentialsFile, "")
	case o.AccessKey != "":
		return credentials.NewStaticV4(o.AccessKey, o.SecretKey, "")
	case o.Role != "":
		return credentials.NewIAM("")
	}
	return credentials.NewChainCredentials([]credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}})
}

// Close gives the cache up. Blobs that are open stay readable.
func (b *Bucket) Close() error { return b.cache.folder.Close() }

// Dir is the folder of the cache.
func (b *Bucket) Dir() string { return b.cache.folder.Dir() }

// String is where the bucket is, without credentials.
func (b *Bucket) String() string {
	return strings.TrimSuffix("s3://"+path.Join(b.at.Bucket, b.at.Prefix), "/")
}

func (b *Bucket) key(name string) string { return path.Join(b.at.Prefix, name) }

// Put writes a blob: write is called with where its bytes go. If write fails, the context ends
// or the bucket does not take it, nothing is kept.
func (b *Bucket) Put(ctx context.Context, name string, write func(io.Writer) error) error {
	return put(ctx, b.Begin, name, write)
}

// Begin begins a blob, on the local disk. It must be closed.
func (b *Bucket) Begin(name string) (Draft, error) {
	if err := check(name); err != nil {
		return nil, fmt.Errorf("begin blob: %w", err)
	}
	d, err := b.cache.folder.begin(name)
	if err != nil {
		return nil, err
	}
	return &bucketDraft{draft: d, bucket: b}, nil
}

// bucketDraft is a draft that is uploaded when it is kept.
type bucketDraft struct {
	*draft
	bucket *Bucket
}

// Keep uploads all that was written. The local copy becomes a file of the cache.
func (d *bucketDraft) Keep(ctx context.Context) error {
	size := d.Size()
	if size > maxObject {
		return &feedmill.Error{Kind: feedmill.ErrTooLarge, Detail: fmt.Sprintf("A file has %d bytes; a bucket stores files of up to %d bytes.", size, int64(maxObject))}
	}
	if err := d.bucket.ready(ctx); err != nil {
		return fmt.Errorf("keep blob: %w", err)
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(d.file, 0, size)); err != nil {
		return fmt.Errorf("keep blob: %w", classify(err))
	}
	if err := d.bucket.upload(ctx, d.name, io.NewSectionReader(d.file, 0, size), size, hex.EncodeToString(sum.Sum(nil))); err != nil {
		return fmt.Errorf("keep blob: %w", err)
	}
	// Without a local copy, it is downloaded when it is needed.
	_ = d.bucket.cache.insert(d.temp, d.name, size)
	return nil
}

func (b *Bucket) upload(ctx context.Context, name string, from io.Reader, size int64, sum string) error {
	info, err := b.client.PutObject(ctx, b.at.Bucket, b.key(name), from, size, minio.PutObjectOptions{
		DisableMultipart: true, ContentType: "application/octet-stream", UserMetadata: map[string]string{sumKey: sum},
	})
	if err == nil && info.Size != size {
		err = fmt.Errorf("the bucket stored %d bytes of %d", info.Size, size)
	}
	return b.note(ctx, err)
}

// Open opens a blob for reading.
func (b *Bucket) Open(ctx context.Context, name string) (Blob, error) {
	e, file, err := b.acquire(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("open blob: %w", err)
	}
	return &cachedFile{File: file, size: e.size, release: sync.OnceFunc(func() { b.cache.release(e) })}, nil
}

// Lease finds the local file of a blob, which stays until it is released.
func (b *Bucket) Lease(ctx context.Context, name string) (feedmill.FileLease, error) {
	e, file, err := b.acquire(ctx, name)
	if err != nil {
		return feedmill.FileLease{}, fmt.Errorf("find blob: %w", err)
	}
	return b.lease(e, file), nil
}

func (b *Bucket) lease(e *entry, file *os.File) feedmill.FileLease {
	_ = file.Close() // it was only read
	return feedmill.FileLease{Path: b.cache.path(e), Release: sync.OnceFunc(func() { b.cache.release(e) })}
}

// Extract leases a file that is made of ranges of a blob and cached under a key. Concurrent callers
// share it. ok is false if the whole blob is cached. A restart removes extracts.
func (b *Bucket) Extract(ctx context.Context, name, key string, write func(ctx context.Context, from io.ReaderAt, to io.Writer) error) (lease feedmill.FileLease, ok bool, err error) {
	if err := check(name); err != nil {
		return lease, false, err
	}
	if b.cache.has(name) {
		return lease, false, nil
	}
	e, file, err := b.acquireBy(ctx, name+"."+key, func(ctx context.Context, to io.Writer) error {
		b.extracts <- struct{}{}
		defer func() { <-b.extracts }()
		return write(ctx, rangeReader(func(p []byte, offset int64) (int, error) { return b.readRange(ctx, name, p, offset) }), to)
	})
	if err != nil {
		return lease, false, fmt.Errorf("extract from blob: %w", err)
	}
	return b.lease(e, file), true, nil
}

// acquire opens the local copy of a blob, and downloads it first if it is missing.
func (b *Bucket) acquire(ctx context.Context, name string) (*entry, *os.File, error) {
	if err := check(name); err != nil {
		return nil, nil, err
	}
	return b.acquireBy(ctx, name, func(ctx context.Context, to io.Writer) error { return b.download(ctx, name, to) })
}

// acquireBy opens a file of the cache, and has it written first if it is missing.
func (b *Bucket) acquireBy(ctx context.Context, name string, write func(context.Context, io.Writer) error) (*entry, *os.File, error) {
	for {
		e, err := b.cache.acquire(ctx, name, write)
		if err != nil {
			return nil, nil, err
		}
		file, err := b.cache.file(e)
		if err == nil {
			return e, file, nil
		}
		b.cache.release(e)
		if !errors.Is(err, errTakenAway) {
			return nil, nil, err
		}
	}
}

// download writes an object to the local disk and verifies it.
func (b *Bucket) download(ctx context.Context, name string, to io.Writer) error {
	object, info, _, err := minio.Core{Client: b.client}.GetObject(ctx, b.at.Bucket, b.key(name), minio.GetObjectOptions{})
	if err != nil {
		return b.note(ctx, err)
	}
	defer object.Close()
	sum := sha256.New()
	read := &reader{of: object}
	n, err := io.Copy(io.MultiWriter(to, sum), read)
	switch {
	case read.err != nil:
		return b.note(ctx, read.err)
	case err != nil:
		return err // of the local disk
	case n != info.Size:
		return fmt.Errorf("%w: %d bytes of %d arrived", feedmill.ErrUnavailable, n, info.Size)
	}
	if want := info.UserMetadata[sumKey]; want != "" && want != hex.EncodeToString(sum.Sum(nil)) {
		return fmt.Errorf("%w: the object %s has other bytes than were written", feedmill.ErrDamaged, b.key(name))
	}
	return b.note(ctx, nil)
}

// reader notes the error of what it reads, other than its end.
type reader struct {
	of  io.Reader
	err error
}

func (r *reader) Read(p []byte) (int, error) {
	n, err := r.of.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}

// Size is how many bytes a blob has.
func (b *Bucket) Size(ctx context.Context, name string) (int64, error) {
	if err := check(name); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	info, err := b.client.StatObject(ctx, b.at.Bucket, b.key(name), minio.StatObjectOptions{})
	return info.Size, b.note(ctx, err)
}

// Refetch forgets the local copy of a blob, so that it is downloaded again. It reports that the
// blob has another copy.
func (b *Bucket) Refetch(name string) bool {
	b.cache.drop(name)
	return true
}

// Delete removes a blob. A missing blob is not an error.
func (b *Bucket) Delete(ctx context.Context, name string) error {
	if err := check(name); err != nil {
		return fmt.Errorf("delete blob: %w", err)
	}
	if err := b.ready(ctx); err != nil {
		return fmt.Errorf("delete blob: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	err := b.note(ctx, b.client.RemoveObject(ctx, b.at.Bucket, b.key(name), minio.RemoveObjectOptions{}))
	if err := ignore(err, feedmill.ErrNotFound); err != nil {
		return fmt.Errorf("delete blob: %w", err)
	}
	b.cache.drop(name)
	return nil
}

// List yields the names of the blobs.
func (b *Bucket) List(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if err := b.ready(ctx); err != nil {
			yield("", fmt.Errorf("list blobs: %w", err))
			return
		}
		prefix := b.at.Prefix
		if prefix != "" {
			prefix += "/"
		}
		for object := range b.client.ListObjectsIter(ctx, b.at.Bucket, minio.ListObjectsOptions{Prefix: prefix, Recursive: true}) {
			name := strings.TrimPrefix(object.Key, prefix)
			switch {
			case object.Err != nil:
				yield("", fmt.Errorf("list blobs: %w", b.note(ctx, object.Err)))
				return
			case name == ownerName || check(name) != nil: // the claim, and what other programs put there
			case !yield(name, nil):
				return
			}
		}
	}
}

// Sweep removes temporary files that were last written before a time, and counts them.
func (b *Bucket) Sweep(ctx context.Context, before time.Time) (int, error) {
	return b.cache.folder.Sweep(ctx, before)
}
