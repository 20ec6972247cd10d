package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// user owns the process and its data in a container.
const user = 65532

// The types of the image specification, as far as they are used.
type (
	descriptor struct {
		MediaType   string            `json:"mediaType"`
		Digest      string            `json:"digest"`
		Size        int               `json:"size"`
		Platform    *platform         `json:"platform,omitempty"`
		Annotations map[string]string `json:"annotations,omitempty"`
	}
	platform struct {
		Architecture string `json:"architecture"`
		OS           string `json:"os"`
	}
	manifest struct {
		SchemaVersion int               `json:"schemaVersion"`
		MediaType     string            `json:"mediaType"`
		Config        descriptor        `json:"config"`
		Layers        []descriptor      `json:"layers"`
		Annotations   map[string]string `json:"annotations,omitempty"`
	}
	index struct {
		SchemaVersion int          `json:"schemaVersion"`
		MediaType     string       `json:"mediaType"`
		Manifests     []descriptor `json:"manifests"`
	}
	image struct {
		Created      string    `json:"created"`
		Architecture string    `json:"architecture"`
		OS           string    `json:"os"`
		Config       config    `json:"config"`
		RootFS       rootFS    `json:"rootfs"`
		History      []history `json:"history"`
	}
	config struct {
		User         string              `json:"User"`
		ExposedPorts map[string]struct{} `json:"ExposedPorts"`
		Env          []string            `json:"Env"`
		Entrypoint   []string            `json:"Entrypoint"`
		Cmd          []string            `json:"Cmd"`
		WorkingDir   string              `json:"WorkingDir"`
		Volumes      map[string]struct{} `json:"Volumes"`
		Labels       map[string]string   `json:"Labels"`
		StopSignal   string              `json:"StopSignal"`
		Healthcheck  healthcheck         `json:"Healthcheck"`
	}
	// healthcheck is an extension of Docker. Others ignore it.
	healthcheck struct {
		Test        []string      `json:"Test"`
		Interval    time.Duration `json:"Interval"`
		Timeout     time.Duration `json:"Timeout"`
		StartPeriod time.Duration `json:"StartPeriod"`
	}
	rootFS struct {
		Type    string   `json:"type"`
		DiffIDs []string `json:"diff_ids"`
	}
	history struct {
		Created   string `json:"created"`
		CreatedBy string `json:"created_by"`
	}
)

const (
	mediaIndex    = "application/vnd.oci.image.index.v1+json"
	mediaManifest = "application/vnd.oci.image.manifest.v1+json"
	mediaConfig   = "application/vnd.oci.image.config.v1+json"
	mediaLayer    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// layout is the content of an OCI archive: blobs by their digest.
type layout map[string][]byte

func (l layout) add(mediaType string, content []byte) descriptor {
	digest := fmt.Sprintf("%x", sha256.Sum256(content))
	l[digest] = content
	return descriptor{MediaType: mediaType, Digest: "sha256:" + digest, Size: len(content)}
}

func (l layout) addJSON(mediaType string, value any) (descriptor, error) {
	text, err := json.Marshal(value)
	return l.add(mediaType, text), err
}

// writeImage writes an archive with an image for each architecture. It contains the program, the
// certificates of public authorities, and empty folders; there is no shell.
func writeImage(version string, at time.Time, dist string, archs []string) error {
	blobs := layout{}
	all := index{SchemaVersion: 2, MediaType: mediaIndex}
	for _, arch := range archs {
		d, err := addImage(blobs, version, arch, at, filepath.Join(dist, "feedmill-linux-"+arch))
		if err != nil {
			return err
		}
		all.Manifests = append(all.Manifests, d)
	}
	d, err := blobs.addJSON(mediaIndex, all)
	if err != nil {
		return err
	}
	d.Annotations = map[string]string{"org.opencontainers.image.ref.name": version, "io.containerd.image.name": "feedmill:" + version}
	top, err := json.Marshal(index{SchemaVersion: 2, MediaType: mediaIndex, Manifests: []descriptor{d}})
	if err != nil {
		return err
	}
	out, err := os.Create(filepath.Join(dist, "feedmill-"+version+".oci.tar"))
	if err != nil {
		return err
	}
	defer out.Close()
	w := newArchive(out, at)
	if err := w.file("oci-layout", 0o644, []byte(`{"imageLayoutVersion":"1.0.0"}`)); err != nil {
		return err
	}
	if err := w.file("index.json", 0o644, top); err != nil {
		return err
	}
	digests := make([]string, 0, len(blobs))
	for digest := range blobs {
		digests = append(digests, digest)
	}
	slices.Sort(digests)
	for _, digest := range digests {
		if err := w.file("blobs/sha256/"+digest, 0o644, blobs[digest]); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return out.Close()
}

func addImage(blobs layout, version, arch string, at time.Time, program string) (descriptor, error) {
	content, err := os.ReadFile(program)
	if err != nil {
		return descriptor{}, err
	}
	files, err := rootFiles(at, content)
	if err != nil {
		return descriptor{}, err
	}
	var packed bytes.Buffer
	z, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if _, err := z.Write(files); err != nil {
		return descriptor{}, err
	}
	if err := z.Close(); err != nil {
		return descriptor{}, err
	}
	created := at.Format(time.RFC3339)
	labels := map[string]string{
		"org.opencontainers.image.title":    "feedmill",
		"org.opencontainers.image.version":  version,
		"org.opencontainers.image.licenses": "Apache-2.0",
	}
	conf, err := blobs.addJSON(mediaConfig, image{
		Created: created, Architecture: arch, OS: "linux",
		Config: config{
			User:         fmt.Sprintf("%d:%d", user, user),
			ExposedPorts: map[string]struct{}{"8080/tcp": {}},
			Env:          []string{"FEEDMILL_DATA=/var/lib/feedmill", "FEEDMILL_LISTEN=0.0.0.0:8080"},
			Entrypoint:   []string{"/feedmill"},
			Cmd:          []string{"serve"},
			WorkingDir:   "/var/lib/feedmill",
			Volumes:      map[string]struct{}{"/var/lib/feedmill": {}},
			Labels:       labels,
			StopSignal:   "SIGTERM",
			Healthcheck: healthcheck{
				Test: []string{"CMD", "/feedmill", "healthcheck"}, Interval: 10 * time.Second, Timeout: 6 * time.Second, StartPeriod: 30 * time.Second,
			},
		},
		RootFS:  rootFS{Type: "layers", DiffIDs: []string{fmt.Sprintf("sha256:%x", sha256.Sum256(files))}},
		History: []history{{Created: created, CreatedBy: "make release"}},
	})
	if err != nil {
		return descriptor{}, err
	}
	d, err := blobs.addJSON(mediaManifest, manifest{
		SchemaVersion: 2, MediaType: mediaManifest, Config: conf,
		Layers: []descriptor{blobs.add(mediaLayer, packed.Bytes())}, Annotations: labels,
	})
	d.Platform = &platform{Architecture: arch, OS: "linux"}
	return d, err
}

// rootFiles is the file system of a container.
func rootFiles(at time.Time, program []byte) ([]byte, error) {
	var b bytes.Buffer
	w := newArchive(&b, at)
	var certificates bytes.Buffer
	for root := range bundle.Roots() {
		// Authorities with restrictions on their certificates need a program that knows these.
		if root.Constraint != nil {
			continue
		}
		if err := pem.Encode(&certificates, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}); err != nil {
			return nil, err
		}
	}
	for _, err := range []error{
		w.folder("etc", 0o755, 0),
		w.folder("etc/ssl", 0o755, 0),
		w.folder("etc/ssl/certs", 0o755, 0),
		w.file("etc/ssl/certs/ca-certificates.crt", 0o644, certificates.Bytes()),
		w.file("etc/passwd", 0o644, fmt.Appendf(nil, "root:x:0:0:root:/:/sbin/nologin\nfeedmill:x:%d:%d:Feedmill:/var/lib/feedmill:/sbin/nologin\n", user, user)),
		w.file("etc/group", 0o644, fmt.Appendf(nil, "root:x:0:\nfeedmill:x:%d:\n", user)),
		w.folder("tmp", 0o1777, 0),
		w.folder("var", 0o755, 0),
		w.folder("var/lib", 0o755, 0),
		w.folder("var/lib/feedmill", 0o700, user),
		w.file("feedmill", 0o755, program),
		w.Close(),
	} {
		if err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}
