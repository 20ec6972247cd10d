package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// credentials are what "feedmill login" keeps.
type credentials struct {
	Server string `json:"server"`
	Key    string `json:"key"`
}

// credentialsFile is where they are kept. On Linux, XDG_CONFIG_HOME moves it.
func credentialsFile() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("cannot find the configuration folder: %w", err)
	}
	return filepath.Join(dir, "feedmill", "credentials.json"), nil
}

// loadCredentials reads what a login has kept; without one it is nothing.
func loadCredentials() (credentials, error) {
	path, err := credentialsFile()
	if err != nil {
		return credentials{}, nil // there is no place where a login could have kept it
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return credentials{}, nil
	}
	if err != nil {
		return credentials{}, err
	}
	if perm := info.Mode().Perm(); perm&0o077 != 0 {
		return credentials{}, fmt.Errorf("%s has mode %04o, so other users can read the key in it; run chmod 600 on it, and revoke the key if others had access", path, perm)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return credentials{}, err
	}
	var c credentials
	if err := json.Unmarshal(text, &c); err != nil || c.Server == "" || c.Key == "" {
		// The error could quote what the file holds.
		return credentials{}, fmt.Errorf(`%s cannot be read; run "feedmill login" again`, path)
	}
	return c, nil
}

// save keeps the credentials, for their owner's eyes only, and returns where.
func (c credentials) save() (path string, err error) {
	if path, err = credentialsFile(); err != nil {
		return "", err
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	text, err := json.MarshalIndent(c, "", "  ")
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
