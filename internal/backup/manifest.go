package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
)

const (
	filesFolder     = "files/"
	recordsFolder   = "records/"
	manifestFolder  = "backups/"
	manifestSuffix  = ".json"
	manifestFormat  = 1
	maxManifestSize = 1 << 30
)

// Manifest lists what a backup consists of.
type Manifest struct {
	Format     int       `json:"format"`
	ID         string    `json:"id"`
	Store      string    `json:"store"`
	Release    string    `json:"release"`
	CreatedAt  time.Time `json:"createdAt"`
	FinishedAt time.Time `json:"finishedAt"`
	Engine     string    `json:"engine"`
	Schema     int       `json:"schema"`
	WithLog    bool      `json:"withLog"`
	// Keyset is the keyset of the vault, encrypted with the vault key.
	Keyset []byte `json:"keyset,omitempty"`
	// Records are the parts of the records in their order.
	Records []Part `json:"records"`
	Files   []Part `json:"files"`
}

// Part is a file of a backup. The name of a file of feeds is that in the store.
type Part struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// signed is a manifest with its checksum.
type signed struct {
	SHA256   string          `json:"sha256"`
	Manifest json.RawMessage `json:"manifest"`
}

func manifestName(id string) string { return manifestFolder + id + manifestSuffix }

// write writes a manifest, which completes its backup.
func (m *Manifest) write(ctx context.Context, to Files) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if text, err = json.Marshal(signed{sumOf(text), text}); err != nil {
		return err
	}
	if len(text) >= maxManifestSize {
		return fmt.Errorf("the manifest of %d files has %d bytes; the maximum is %d", len(m.Files), len(text), maxManifestSize)
	}
	draft, err := to.Begin(manifestName(m.ID))
	if err != nil {
		return err
	}
	defer draft.Close()
	if _, err := draft.Write(append(text, '\n')); err != nil {
		return err
	}
	return draft.Keep(ctx)
}

func sumOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// errManifest is the error of a manifest that is not as it was written.
var errManifest = errors.New("the manifest is damaged")

// ReadManifest reads and verifies the manifest of a backup.
func ReadManifest(ctx context.Context, from Files, id string) (*Manifest, error) {
	file, err := from.Open(ctx, manifestName(id))
	if errors.Is(err, feedmill.ErrNotFound) {
		return nil, fmt.Errorf("backup %s does not exist", id)
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if file.Size() > maxManifestSize {
		return nil, fmt.Errorf("backup %s: %w: it has %d bytes", id, errManifest, file.Size())
	}
	text, err := io.ReadAll(file)
	if err != nil {
		return nil, err
	}
	var s signed
	m := new(Manifest)
	if err := json.Unmarshal(text, &s); err != nil || sumOf(s.Manifest) != s.SHA256 {
		return nil, fmt.Errorf("backup %s: %w: its checksum does not match", id, errManifest)
	}
	if err := json.Unmarshal(s.Manifest, m); err != nil || m.ID != id {
		return nil, fmt.Errorf("backup %s: %w", id, errManifest)
	}
	if m.Format != manifestFormat {
		return nil, fmt.Errorf("backup %s has format %d, but this program reads format %d; use the program that created it", id, m.Format, manifestFormat)
	}
	return m, nil
}

// content is what a target of backups has.
type content struct {
	// names has all files, and backups the ids of those with a manifest, oldest first.
	names   map[string]bool
	backups []string
}

// list lists a target of backups.
func list(ctx context.Context, in Files) (c content, err error) {
	c.names = make(map[string]bool)
	for name, err := range in.List(ctx) {
		if err != nil {
			return c, err
		}
		c.names[name] = true
		if id, ok := strings.CutPrefix(name, manifestFolder); ok {
			if id, ok = strings.CutSuffix(id, manifestSuffix); ok {
				c.backups = append(c.backups, id)
			}
		}
	}
	slices.Sort(c.backups)
	return c, nil
}

// Newest is the manifest of the backup with an id, or of the newest backup.
func Newest(ctx context.Context, from Files, id string) (*Manifest, error) {
	if id == "" {
		c, err := list(ctx, from)
		if err != nil {
			return nil, err
		}
		if len(c.backups) == 0 {
			return nil, errors.New("the source has no backups; check the folder or URL")
		}
		id = c.backups[len(c.backups)-1]
	}
	return ReadManifest(ctx, from, id)
}
