package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// credentials are a server and the key for it.
type credentials struct {
	Server string `json:"server,omitzero"`
	Key    string `json:"key,omitzero"`
}

// logins are what "feedmill login" saves: one login for each profile. That of the default
// profile has the place that it had before there were profiles.
type logins struct {
	credentials
	Profiles map[string]credentials `json:"profiles,omitzero"`
}

// defaultProfile is the profile of a login without --profile.
const defaultProfile = "default"

var profileName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)

// of returns the login of a profile; it is empty if there is none.
func (l logins) of(profile string) credentials {
	if profile == "" || profile == defaultProfile {
		return l.credentials
	}
	return l.Profiles[profile]
}

// set saves the login of a profile in l; empty credentials remove it.
func (l *logins) set(profile string, c credentials) {
	switch {
	case profile == "" || profile == defaultProfile:
		l.credentials = c
	case c == credentials{}:
		delete(l.Profiles, profile)
	default:
		if l.Profiles == nil {
			l.Profiles = make(map[string]credentials)
		}
		l.Profiles[profile] = c
	}
}

// names lists the profiles that have a login, the default one first.
func (l logins) names() (names []string) {
	if l.Server != "" {
		names = append(names, defaultProfile)
	}
	return append(names, slices.Sorted(maps.Keys(l.Profiles))...)
}

// credentialsFile is where logins are saved. On Linux, XDG_CONFIG_HOME moves it.
func credentialsFile() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("cannot find the configuration folder: %w", err)
	}
	return filepath.Join(dir, "feedmill", "credentials.json"), nil
}

// loadLogins reads the saved logins; without a file there are none.
func loadLogins() (logins, error) {
	path, err := credentialsFile()
	if err != nil {
		return logins{}, nil // no login can have been saved
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return logins{}, nil
	}
	if err != nil {
		return logins{}, err
	}
	if perm := info.Mode().Perm(); perm&0o077 != 0 {
		return logins{}, fmt.Errorf("%s has mode %04o, so other users can read the key in it; run chmod 600 on it, and revoke the key if others had access", path, perm)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return logins{}, err
	}
	var l logins
	err = json.Unmarshal(text, &l)
	for _, name := range l.names() {
		if c := l.of(name); c.Server == "" || c.Key == "" {
			err = errors.New("a login is incomplete")
		}
	}
	if err != nil || len(l.names()) == 0 {
		// The error could quote what the file contains.
		return logins{}, fmt.Errorf(`%s cannot be read; run "feedmill login" again`, path)
	}
	return l, nil
}

// save writes the logins to a file that only its owner can read, and returns its path. Without
// any login, the file is removed.
func (l logins) save() (path string, err error) {
	if path, err = credentialsFile(); err != nil {
		return "", err
	}
	if len(l.names()) == 0 {
		return path, os.Remove(path)
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	text, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return "", err
	}
	temp, err := os.CreateTemp(dir, ".credentials-*") // new, and of mode 0600
	if err != nil {
		return "", err
	}
	defer os.Remove(temp.Name()) // unless it was renamed
	_, err = temp.Write(append(text, '\n'))
	if err := errors.Join(err, temp.Close()); err != nil {
		return "", fmt.Errorf("cannot save the credentials: %w", err)
	}
	return path, os.Rename(temp.Name(), path)
}
