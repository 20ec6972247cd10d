package vault

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestKeyText(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		ok         bool
	}{
		{"32 characters", strings.Repeat("x", 32), true},
		{"32 characters of several bytes", strings.Repeat("ü", 32), true},
		{"31 characters", strings.Repeat("x", 31), false},
		{"31 characters of several bytes", strings.Repeat("ü", 31), false},
		{"31 characters and a space", strings.Repeat("x", 31) + " ", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := LoadKey(tc.text, "")
			if (err == nil) != tc.ok {
				t.Errorf("LoadKey: %v", err)
			}
			if err != nil && strings.Contains(err.Error(), strings.TrimSpace(tc.text)) {
				t.Errorf("the error tells the key: %v", err)
			}
		})
	}
}

// The derivation is a promise: a changed one locks every store out.
func TestKeyDerivation(t *testing.T) {
	const want = "564fada905283ef7a906075ddb5ca29e66dc934eab7ebbe96d83c241ecc4a5c2"
	if got := hex.EncodeToString(testKey(t, keyText).kek()); got != want {
		t.Errorf("derived %s, want %s", got, want)
	}
}

func TestKeyNeedsASource(t *testing.T) {
	if _, err := LoadKey(" \n", ""); err == nil {
		t.Error("a key came from nowhere")
	}
}

func TestKeyFileIsMadeOnceForTheOwnerAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vault.key")
	first, err := LoadKey("", path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode(); got != 0o600 {
		t.Errorf("mode %v, want 0600", got)
	}
	again, err := LoadKey("", path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.kek(), again.kek()) {
		t.Error("the second start has another key")
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("the folder has %d files, want the key alone", len(entries))
	}
}

func TestKeyFilesDiffer(t *testing.T) {
	a, errA := LoadKey("", filepath.Join(t.TempDir(), "vault.key"))
	b, errB := LoadKey("", filepath.Join(t.TempDir(), "vault.key"))
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	if bytes.Equal(a.kek(), b.kek()) {
		t.Error("two fresh keys are the same")
	}
}

func TestKeyFileMadeByManyIsOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vault.key")
	keys := make([]Key, 8)
	var wg sync.WaitGroup
	for i := range keys {
		wg.Go(func() {
			var err error
			if keys[i], err = LoadKey("", path); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, key := range keys {
		if key.kek == nil || !bytes.Equal(key.kek(), keys[0].kek()) {
			t.Fatal("two starts have different keys")
		}
	}
}

func TestTheTextOfAKeyFileIsTheSameKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vault.key")
	fromFile, err := LoadKey("", path)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if fromText := testKey(t, string(text)); !bytes.Equal(fromText.kek(), fromFile.kek()) {
		t.Error("the text of the file is another key than the file")
	}
}

func TestFindKeyMakesNoFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vault.key")
	if _, err := FindKey("", path); err == nil || !strings.Contains(err.Error(), path+" is missing") {
		t.Errorf("error is %v, want one that names %s", err, path)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file was made: %v", err)
	}
	made, err := LoadKey("", path)
	if err != nil {
		t.Fatal(err)
	}
	if found, err := FindKey("", path); err != nil || !bytes.Equal(found.kek(), made.kek()) {
		t.Errorf("the key that is there is not found: %v", err)
	}
}

func TestTextWinsOverTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vault.key")
	key, err := LoadKey(keyText, path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(key.kek(), testKey(t, keyText).kek()) {
		t.Error("the key is not that of the text")
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("a file was made: %v", err)
	}
}

func TestKeyFileRefused(t *testing.T) {
	const secret = "a secret that is long enough to be a key"
	for _, tc := range []struct {
		name    string
		content string
		mode    fs.FileMode
		want    string
	}{
		{"readable by the group", secret, 0o640, "chmod 600"},
		{"readable by all", secret, 0o604, "chmod 600"},
		{"empty", "", 0o600, "at least 32 characters"},
		{"too short", "tiny but secret", 0o600, "at least 32 characters"},
		{"too long", strings.Repeat("x", maxKeyFile+1), 0o600, "more than"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "vault.key")
			if err := os.WriteFile(path, []byte(tc.content), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, tc.mode); err != nil {
				t.Fatal(err)
			}
			_, err := LoadKey("", path)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("LoadKey = %v, want an error with %q", err, tc.want)
			}
			if err != nil && tc.content != "" && strings.Contains(err.Error(), tc.content) {
				t.Errorf("the error tells the key: %v", err)
			}
		})
	}
	t.Run("a folder", func(t *testing.T) {
		if _, err := LoadKey("", t.TempDir()); err == nil {
			t.Error("a folder was taken for a key")
		}
	})
	t.Run("in no folder", func(t *testing.T) {
		if _, err := LoadKey("", filepath.Join(t.TempDir(), "missing", "vault.key")); err == nil {
			t.Error("a key was made in a folder that is not there")
		}
	})
}

func TestKeyIsNeverShown(t *testing.T) {
	key := testKey(t, keyText)
	var shown bytes.Buffer
	wrapped := struct {
		Key   Key
		inner Key
		ptr   *Key
	}{key, key, &key}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
		for _, value := range []any{key, &key, wrapped, &wrapped, []Key{key}, map[string]Key{"k": key}} {
			fmt.Fprintf(&shown, verb+"\n", value)
		}
	}
	for _, value := range []any{key, &key, wrapped, map[string]any{"k": key}} {
		encoded, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		shown.Write(encoded)
	}
	for _, handler := range []slog.Handler{slog.NewTextHandler(&shown, nil), slog.NewJSONHandler(&shown, nil)} {
		slog.New(handler).Info("start", "key", key, "ptr", &key, "wrapped", wrapped)
	}
	if got := fmt.Sprintf("%v %+v %#v %s", key, key, key, &key); got != "*** *** *** ***" {
		t.Errorf("the key shows as %s", got)
	}

	text := strings.ToLower(shown.String())
	decimal := strings.Trim(fmt.Sprint(key.kek()[:4]), "[]")
	for what, secret := range map[string]string{
		"its text":        keyText,
		"its bytes":       string(key.kek()[:4]),
		"its hex":         hex.EncodeToString(key.kek()[:4]),
		"its decimals":    decimal,
		"its Go literals": strings.Trim(fmt.Sprintf("%#v", key.kek()[:4]), "[]byte{}"),
	} {
		if strings.Contains(text, strings.ToLower(secret)) {
			t.Errorf("%s shows in: %s", what, text)
		}
	}
}
