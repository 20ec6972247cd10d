package manifest

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/feedmill/feedmill"
)

// Registry has the services that come with the program and those of a folder, in
// which a manifest takes the place of one that has the same name. The folder is
// looked at again while the program runs. Goroutines may share it.
type Registry struct {
	folder string
	log    *slog.Logger

	mu     sync.Mutex
	looked time.Time
	seen   string // the files of the folder, as they were
	all    []*Manifest
}

// lookEvery is how long a change of the folder may go unseen.
const lookEvery = 2 * time.Second

// NewRegistry reads all manifests. Folder is empty for none besides those that come
// with the program.
func NewRegistry(folder string, log *slog.Logger) (*Registry, error) {
	r := &Registry{folder: folder, log: log}
	var err error
	if r.seen, r.all, err = r.read(); err != nil {
		return nil, err
	}
	r.looked = time.Now()
	return r, nil
}

// All are the manifests, by their names.
func (r *Registry) All() []*Manifest {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.folder == "" || time.Since(r.looked) < lookEvery {
		return r.all
	}
	r.looked = time.Now()
	seen, err := r.fingerprint()
	if err == nil && seen == r.seen {
		return r.all
	}
	if seen, all, err := r.read(); err != nil {
		// What was right goes on, and this is told once for each change.
		r.log.Error("loading services failed; the previous services stay active", "folder", r.folder, "error", err)
		r.seen = seen
	} else {
		r.seen, r.all = seen, all
		r.log.Info("services were reloaded", "folder", r.folder, "services", len(all))
	}
	return r.all
}

// Find finds a service by its name.
func (r *Registry) Find(service string) (*Manifest, bool) {
	all := r.All()
	i := slices.IndexFunc(all, func(m *Manifest) bool { return m.Service == service })
	if i < 0 {
		return nil, false
	}
	return all[i], true
}

// Provider finds where a service is signed in to; nil for one that needs no person.
func (r *Registry) Provider(service string) (provider *feedmill.Provider, title string, known bool) {
	m, ok := r.Find(service)
	if !ok {
		return nil, "", false
	}
	return m.SignIn, m.Title, true
}

// files are the manifests of the folder.
func (r *Registry) files() ([]string, error) {
	if r.folder == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(r.folder)
	if err != nil {
		return nil, fmt.Errorf("read the folder of services: %w", err)
	}
	var files []string
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); (ext == ".yaml" || ext == ".yml") && !strings.HasPrefix(e.Name(), ".") {
			files = append(files, filepath.Join(r.folder, e.Name()))
		}
	}
	return files, nil
}

// fingerprint is what tells whether the folder has changed.
func (r *Registry) fingerprint() (string, error) {
	files, err := r.files()
	if err != nil {
		return "", err
	}
	var seen strings.Builder
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(&seen, file, info.Size(), info.ModTime().UnixNano())
	}
	return seen.String(), nil
}

// read reads all manifests. The error has everything that is wrong with those of
// the folder.
func (r *Registry) read() (seen string, all []*Manifest, err error) {
	if all, err = BuiltIn(); err != nil {
		return "", nil, err
	}
	if seen, err = r.fingerprint(); err != nil {
		return "", nil, err
	}
	files, err := r.files()
	if err != nil {
		return "", nil, err
	}
	own := map[string]string{}
	var wrong []error
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return "", nil, err
		}
		m, faults := Load(data)
		for _, f := range faults {
			wrong = append(wrong, errors.New(file+":"+f.String()))
		}
		if other := own[m.Service]; other != "" {
			wrong = append(wrong, fmt.Errorf("%s: the service %s is already defined in %s", file, m.Service, other))
		}
		own[m.Service] = file
		all = append(slices.DeleteFunc(all, func(other *Manifest) bool { return other.Service == m.Service }), m)
	}
	slices.SortFunc(all, func(a, b *Manifest) int { return cmp.Compare(a.Service, b.Service) })
	return seen, all, errors.Join(wrong...)
}
