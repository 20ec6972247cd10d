package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// maxSecretFile is the maximum size of a file with a secret.
const maxSecretFile = 1 << 20

// resolve replaces the references to secrets below v with [feedmill.Hidden], and keeps their
// values. A secret to keep has no value.
func (d *document) resolve(v *strictjson.Value, pointer string) error {
	if kind, member := referenceIn(v); kind != "" && !inBody(pointer) {
		secret, err := d.secret(kind, member)
		if err != nil {
			return err
		}
		line := v.Line
		*v = strictjson.String(feedmill.Hidden)
		v.Line = line
		d.secrets[pointer] = secret
		return nil
	}
	for i := range v.Members {
		if err := d.resolve(&v.Members[i].Value, pointer+"/"+strictjson.EscapePointer(v.Members[i].Name)); err != nil {
			return err
		}
	}
	for i := range v.Items {
		if err := d.resolve(&v.Items[i], pointer+"/"+itoa(i)); err != nil {
			return err
		}
	}
	return nil
}

// inBody reports whether a value is part of a request's body, where an object with a member
// env, file or keep is data.
func inBody(pointer string) bool {
	for part := range strings.SplitSeq(pointer, "/") {
		if part == "body" || part == "variables" {
			return true
		}
	}
	return false
}

// referenceIn returns the kind of a reference, {env: NAME}, {file: path} or {keep: true}, and its
// value. The kind is empty for any other value.
func referenceIn(v *strictjson.Value) (kind string, member *strictjson.Value) {
	if v.Kind != '{' || len(v.Members) != 1 {
		return "", nil
	}
	m := &v.Members[0]
	switch {
	case (m.Name == "env" || m.Name == "file") && m.Value.Kind == '"', m.Name == "keep" && m.Value.Kind == 't':
		return m.Name, &m.Value
	}
	return "", nil
}

func (d *document) secret(kind string, v *strictjson.Value) (string, error) {
	switch kind {
	case "env":
		if value := os.Getenv(v.Text()); value != "" {
			return value, nil
		}
		return "", d.errorf(v.Line, "the environment variable %s is not set", v.Text())
	case "file":
		path := v.Text()
		if !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(d.file), path)
		}
		info, err := os.Stat(path)
		if err == nil && info.Size() > maxSecretFile {
			return "", d.errorf(v.Line, "%s has more than %d bytes", path, maxSecretFile)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return "", d.errorf(v.Line, "%v", err)
		}
		value := strings.TrimRight(string(text), "\r\n")
		if value == "" {
			return "", d.errorf(v.Line, "%s is empty", path)
		}
		return value, nil
	}
	return "", nil // keep
}

// secretAt is the value of the secret at a JSON Pointer, empty if there is none or it is kept.
func (d *document) secretAt(pointer string) string { return d.secrets[pointer] }

// hiddenSettings are the objects of a subscription whose values the server does not show.
var hiddenSettings = []string{"/delivery/headers", "/delivery/credentials", "/delivery/tls", "/delivery/oauth2"}

// digest is the digest of the secrets of a document, and of the file of an upload. It is empty
// for a document with neither.
func (d *document) digest() (string, error) {
	all := make(map[string]string)
	for pointer, value := range d.secrets {
		if value != "" {
			all[pointer] = value
		}
	}
	for _, at := range hiddenSettings {
		values := d.definition.At(at)
		if d.kind != feedmill.DefinedSubscription || values == nil {
			continue
		}
		for _, m := range values.Members {
			if text := textOf(&m.Value); text != feedmill.Hidden {
				all[at+"/"+strictjson.EscapePointer(m.Name)] = text
			}
		}
	}
	if d.upload != "" {
		sum, err := fileSum(d.upload)
		if err != nil {
			return "", d.errorf(0, "file: %v", err)
		}
		all["file"] = sum
	}
	if len(all) == 0 {
		return "", nil
	}
	text, err := json.Marshal(all) // with sorted names
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// revealed is a copy of the value at a JSON Pointer with its secrets. One that is kept is
// [feedmill.Hidden], by which the server keeps it.
func (d *document) revealed(v strictjson.Value, pointer string) strictjson.Value {
	v = v.Clone()
	for at, secret := range d.secrets {
		rest, below := strings.CutPrefix(at, pointer)
		if !below || secret == "" || rest != "" && rest[0] != '/' {
			continue
		}
		if target := v.At(rest); target != nil {
			*target = strictjson.String(secret)
		}
	}
	return v
}

// kept returns the pointers of secrets that the document keeps.
func (d *document) kept() (pointers []string) {
	for pointer, value := range d.secrets {
		if value == "" {
			pointers = append(pointers, pointer)
		}
	}
	return pointers
}
