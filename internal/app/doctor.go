package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/feedmill/feedmill/internal/blob"
	"github.com/feedmill/feedmill/internal/config"
	"github.com/feedmill/feedmill/internal/egress"
	"github.com/feedmill/feedmill/internal/lake"
	"github.com/feedmill/feedmill/internal/machine"
	"github.com/feedmill/feedmill/internal/serve"
	"github.com/feedmill/feedmill/internal/store/postgres"
	"github.com/feedmill/feedmill/internal/store/sqlite"
	"github.com/feedmill/feedmill/internal/vault"
)

// Health is the result of one check of [Diagnose].
type Health string

// The results of checks. Only a failed check keeps the server from working.
const (
	Healthy   Health = "ok"
	Unhealthy Health = "failed"
	Doubtful  Health = "warning"
)

// Finding is what a check found.
type Finding struct {
	Check  string `json:"check"`
	Status Health `json:"status"`
	Detail string `json:"detail"`
	// Fix is what to do; it is empty for a check that passed.
	Fix string `json:"fix,omitzero"`
}

const (
	// checkTime bounds each check that uses the network.
	checkTime = 10 * time.Second
	// maxClockSkew is how far clocks may differ. Leases and signatures compare them.
	maxClockSkew = 5 * time.Second
	// expiresSoon is when a certificate is worth a warning.
	expiresSoon = 14 * 24 * time.Hour
)

// Diagnose checks everything that the service needs: settings, store, bucket, disk, clock,
// egress, TLS and the sandbox of workers. It changes nothing and can run beside a server.
func Diagnose(ctx context.Context, c *config.Config, report func(Finding)) {
	d := diagnosis{config: c, report: report}
	if err := Check(c); err != nil {
		d.broken("settings", err.Error(), "Correct the settings.")
	} else {
		d.ok("settings", "All settings are valid.")
	}
	d.folder()
	d.store(ctx)
	d.bucket(ctx)
	d.disk()
	d.clock()
	d.egress(ctx)
	d.tls()
	d.cage(ctx)
}

type diagnosis struct {
	config *config.Config
	report func(Finding)
	// ahead is how far the clock of the database is ahead, and compared that it is known.
	ahead    time.Duration
	compared bool
}

func (d *diagnosis) ok(check, format string, args ...any) {
	d.report(Finding{Check: check, Status: Healthy, Detail: fmt.Sprintf(format, args...)})
}

func (d *diagnosis) warn(check, detail, fix string) {
	d.report(Finding{check, Doubtful, detail, fix})
}

func (d *diagnosis) broken(check, detail, fix string) {
	d.report(Finding{check, Unhealthy, detail, fix})
}

// folder checks the data folder. It does not lock it, because a server may use it.
func (d *diagnosis) folder() {
	const check = "data folder"
	path := d.config.Data
	info, err := os.Stat(path)
	switch {
	case os.IsNotExist(err):
		d.ok(check, "%s does not exist yet; the first start creates it.", path)
		return
	case err != nil:
		d.broken(check, err.Error(), "Check the setting data and the permissions of the folder.")
		return
	case !info.IsDir():
		d.broken(check, path+" is not a folder.", "Set data to a folder.")
		return
	}
	if err := machine.CheckFolder(path); err != nil {
		d.broken(check, err.Error(), "Restrict the permissions of the folder.")
		return
	}
	probe, err := os.CreateTemp(path, ".doctor")
	if err != nil {
		d.broken(check, err.Error(), "Make the folder writable for the user that runs the server.")
		return
	}
	probe.Close()
	os.Remove(probe.Name())
	d.ok(check, "%s is writable.", path)
}

func (d *diagnosis) store(ctx context.Context) {
	const check = "store"
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	var pending int
	var err error
	name := "The SQLite store"
	if d.config.DatabaseURL != "" {
		name = "PostgreSQL"
		var found postgres.Inspection
		found, err = postgres.Inspect(ctx, d.config.DatabaseURL)
		pending, d.ahead, d.compared = found.Pending, found.Ahead, err == nil
	} else {
		file := filepath.Join(d.config.Data, storeFile)
		if _, statErr := os.Stat(file); os.IsNotExist(statErr) {
			d.ok(check, "The store does not exist yet; the first start creates %s.", file)
			return
		}
		pending, err = sqlite.Inspect(ctx, file)
	}
	switch {
	case err != nil:
		d.broken(check, err.Error(), "Check databaseUrl, the database server and its permissions, or restore the store from a backup.")
		return
	case pending > 0:
		d.ok(check, "%s responds; the next start applies %d migrations.", name, pending)
	default:
		d.ok(check, "%s responds, and its schema is current.", name)
	}
	d.vault()
}

// vault checks that the key of the secrets can be read, if it is in a file.
func (d *diagnosis) vault() {
	file := filepath.Join(d.config.Data, "vault.key")
	if _, err := os.Stat(file); d.config.VaultKey == "" && os.IsNotExist(err) && d.config.DatabaseURL == "" {
		d.broken("vault", "The vault key file "+file+" is missing.", "Restore the file, or set FEEDMILL_VAULT_KEY.")
		return
	} else if d.config.VaultKey == "" && os.IsNotExist(err) {
		d.warn("vault", "This machine has no vault key; the first start creates one.", "Set FEEDMILL_VAULT_KEY to the same key on all replicas.")
		return
	}
	if _, err := vault.FindKey(d.config.VaultKey, file); err != nil {
		d.broken("vault", err.Error(), "Restore the vault key.")
		return
	}
	d.ok("vault", "The vault key can be read.")
}

func (d *diagnosis) bucket(ctx context.Context) {
	const check = "bucket"
	if d.config.BlobURL == "" {
		d.ok(check, "Not configured; feed files are in the data folder.")
		return
	}
	at, err := blob.ParseLocation(d.config.BlobURL)
	if err != nil {
		d.broken(check, err.Error(), "Correct blobUrl.")
		return
	}
	cache, err := os.MkdirTemp("", "feedmill-doctor")
	if err != nil {
		d.broken(check, err.Error(), "Make the temporary folder writable.")
		return
	}
	defer os.RemoveAll(cache)
	bucket, err := blob.OpenBucket(ctx, blob.BucketOptions{
		Location: at, AccessKey: d.config.BlobAccessKey, SecretKey: d.config.BlobSecretKey, Cache: cache, CacheBytes: 1 << 20,
	})
	if err != nil {
		d.broken(check, err.Error(), "Correct blobUrl.")
		return
	}
	defer bucket.Close()
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	if refused, err := bucket.Check(ctx); refused {
		d.broken(check, err.Error(), "Correct blobUrl and the credentials of the bucket.")
	} else if err != nil {
		d.broken(check, err.Error(), "Check that this machine can reach the endpoint of the bucket.")
	} else {
		d.ok(check, "%s responds.", bucket)
	}
}

func (d *diagnosis) disk() {
	const check = "disk"
	folder := d.config.Data
	for { // the folder that exists
		if _, err := os.Stat(folder); err == nil || folder == filepath.Dir(folder) {
			break
		}
		folder = filepath.Dir(folder)
	}
	free, err := machine.FreeDisk(folder)
	switch {
	case err != nil:
		d.broken(check, err.Error(), "Check the disk of the data folder.")
	case free < int64(d.config.MinFreeDisk):
		d.broken(check, fmt.Sprintf("%s has %d MiB free; uploads and refreshes need minFreeDisk, %d MiB.", folder, free>>20, int64(d.config.MinFreeDisk)>>20), "Free disk space, or move the data folder to a larger disk.")
	default:
		d.ok(check, "%s has %d MiB free.", folder, free>>20)
	}
}

func (d *diagnosis) clock() {
	const check = "clock"
	synced, known := machine.ClockSynchronized()
	switch {
	case d.compared && d.ahead.Abs() > maxClockSkew:
		d.broken(check, fmt.Sprintf("The clock differs from the database's by %s.", d.ahead.Abs().Round(time.Millisecond)), "Synchronize the clocks of all machines with NTP.")
	case known && !synced:
		d.warn(check, "The kernel reports that the clock is not synchronized.", "Run an NTP client such as chrony or systemd-timesyncd.")
	case d.compared:
		d.ok(check, "The clock differs from the database's by %s.", d.ahead.Abs().Round(time.Millisecond))
	default:
		d.ok(check, "It is %s.", time.Now().UTC().Format(time.RFC3339))
	}
}

func (d *diagnosis) egress(ctx context.Context) {
	const check = "egress"
	client, err := egress.New(egress.Options{Allow: d.config.EgressAllow, Proxy: d.config.EgressProxy})
	if err != nil {
		return // settings reports it
	}
	if d.config.EgressProxy != "" {
		if err := dialProxy(ctx, d.config.EgressProxy); err != nil {
			d.broken(check, "The proxy does not accept connections: "+err.Error()+".", "Check egressProxy and the proxy.")
			return
		}
	}
	if d.config.OIDCIssuer != "" {
		issuer, err := url.Parse(d.config.OIDCIssuer)
		if err == nil {
			err = client.Policy().CheckURL(issuer)
		}
		if err != nil {
			d.broken(check, "The OIDC issuer cannot be reached: "+err.Error()+".", "Add its address to egressAllow.")
			return
		}
	}
	d.ok(check, "Outgoing requests can reach public addresses and %d allowed entries.", len(d.config.EgressAllow))
}

// dialProxy opens a connection to the proxy. Its errors do not contain the password in its URL.
func dialProxy(ctx context.Context, proxy string) error {
	u, err := url.Parse(proxy)
	if err != nil {
		return errors.New("its URL is not valid")
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	conn, err := (&net.Dialer{Timeout: checkTime}).DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return err
	}
	return conn.Close()
}

func (d *diagnosis) tls() {
	const check = "TLS"
	if d.config.TLSCert == "" {
		if !serve.IsLoopback(d.config.Listen) {
			d.warn(check, d.config.Listen+" accepts unencrypted connections from other machines.", "Set tlsCert and tlsKey, or put a proxy with TLS before the server.")
			return
		}
		d.ok(check, "Not configured; the server listens only on this machine.")
		return
	}
	until, err := serve.CertificateExpiry(d.config.TLSCert, d.config.TLSKey)
	switch left := time.Until(until); {
	case err != nil:
		d.broken(check, err.Error(), "Correct tlsCert and tlsKey.")
	case left <= 0:
		d.broken(check, "The certificate expired on "+until.UTC().Format(time.DateOnly)+".", "Renew the certificate; the server reloads the file.")
	case left < expiresSoon:
		d.warn(check, "The certificate expires on "+until.UTC().Format(time.DateOnly)+".", "Renew the certificate; the server reloads the file.")
	default:
		d.ok(check, "The certificate is valid until %s.", until.UTC().Format(time.DateOnly))
	}
}

// cage starts a worker, which fails if the kernel refuses its sandbox.
func (d *diagnosis) cage(ctx context.Context) {
	const check = "worker cage"
	temp, err := os.MkdirTemp("", "feedmill-doctor")
	if err != nil {
		d.broken(check, err.Error(), "Make the temporary folder writable.")
		return
	}
	defer os.RemoveAll(temp)
	pool := lake.NewPool(lake.PoolConfig{Temp: temp, Workers: 1})
	defer pool.Close()
	if err := pool.Try(ctx); err != nil {
		d.broken(check, err.Error(), "Check the limits of the process (memory, processes, open files) and the seccomp profile of the container.")
		return
	}
	if !lake.Landlock() {
		d.warn(check, "A worker starts, but the kernel does not support Landlock.", "Use Linux 5.13 or later with Landlock enabled, so that the kernel restricts which files a worker can read.")
		return
	}
	d.ok(check, "A worker starts in its sandbox.")
}
