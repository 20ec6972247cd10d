package deploy

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestRelease writes a release twice, from folders with different names, and runs what it wrote.
func TestRelease(t *testing.T) {
	if os.Getenv("FEEDMILL_LONG") == "" {
		t.Skip("builds two releases for two architectures; set FEEDMILL_LONG=1")
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	var dists [2]string
	for i, name := range []string{"a", "another/and/longer"} {
		folder := filepath.Join(work, name)
		sources := output(t, exec.Command("git", "-C", root, "ls-files", "-z"))
		for file := range strings.SplitSeq(strings.TrimSuffix(sources, "\x00"), "\x00") {
			copyFile(t, filepath.Join(root, file), filepath.Join(folder, file))
		}
		dists[i] = filepath.Join(folder, "dist")
		build := exec.Command(filepath.Join(folder, "scripts/release"))
		build.Env = append(os.Environ(), "VERSION=1.2.3", "SOURCE_DATE_EPOCH=1790000000", "DIST=dist")
		output(t, build)
	}
	sums := read(t, filepath.Join(dists[0], "SHA256SUMS"))
	if other := read(t, filepath.Join(dists[1], "SHA256SUMS")); sums != other {
		t.Errorf("two builds differ:\n%s\n%s", sums, other)
	}
	check := exec.Command("sha256sum", "--check", "--strict", "SHA256SUMS")
	check.Dir = dists[0]
	output(t, check)
	for _, want := range []string{
		"feedmill-linux-amd64", "feedmill-linux-arm64", "feedmill_1.2.3_amd64.deb", "feedmill_1.2.3_arm64.deb", "feedmill-1.2.3-1.x86_64.rpm", "feedmill-1.2.3-1.aarch64.rpm",
		"feedmill-1.2.3.oci.tar", "feedmill-chart-1.2.3.tgz", "feedmill-linux-amd64.cdx.json", "feedmill-linux-arm64.cdx.json", "completions/feedmill.bash", "man/feedmill.1.gz",
	} {
		if !strings.Contains(sums, "  "+want+"\n") {
			t.Errorf("SHA256SUMS does not contain %s", want)
		}
	}
	t.Run("image", func(t *testing.T) { testImage(t, filepath.Join(dists[0], "feedmill-1.2.3.oci.tar")) })
	t.Run("rpm", func(t *testing.T) { testRPM(t, filepath.Join(dists[0], "feedmill-1.2.3-1.x86_64.rpm")) })
	t.Run("components", func(t *testing.T) { testComponents(t, filepath.Join(dists[0], "feedmill-linux-amd64.cdx.json")) })
	t.Run("deb", func(t *testing.T) { testDeb(t, root, dists[0]) })
	t.Run("arm64", func(t *testing.T) { testARM64(t, filepath.Join(dists[0], "feedmill-linux-arm64")) })
}

// output runs a command, which has to succeed.
func output(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", cmd, err, out, stderr.Bytes())
	}
	return string(out)
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	info, err := os.Stat(from)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, text, info.Mode()); err != nil {
		t.Fatal(err)
	}
}

// testImage reads the archive with skopeo, unpacks it, and runs it without rights and without a
// writable file system.
func testImage(t *testing.T, archive string) {
	for _, arch := range []string{"amd64", "arm64"} {
		var image struct{ Architecture string }
		text := output(t, exec.Command("skopeo", "inspect", "--override-arch", arch, "oci-archive:"+archive))
		if err := json.Unmarshal([]byte(text), &image); err != nil || image.Architecture != arch {
			t.Errorf("%s: %v\n%s", arch, err, text)
		}
	}
	work := t.TempDir()
	output(t, exec.Command("skopeo", "copy", "--quiet", "--override-arch", "amd64", "oci-archive:"+archive, "dir:"+work))
	var m struct {
		Config struct{ Digest string }
		Layers []struct{ Digest string }
	}
	if err := json.Unmarshal([]byte(read(t, filepath.Join(work, "manifest.json"))), &m); err != nil || len(m.Layers) != 1 {
		t.Fatal(m, err)
	}
	var conf struct {
		Config struct {
			User            string
			Env             []string
			Entrypoint, Cmd []string
			Healthcheck     struct{ Test []string }
		}
	}
	blob := func(digest string) string { return filepath.Join(work, strings.TrimPrefix(digest, "sha256:")) }
	if err := json.Unmarshal([]byte(read(t, blob(m.Config.Digest))), &conf); err != nil {
		t.Fatal(err)
	}
	c := conf.Config
	if c.User != "65532:65532" || strings.Join(c.Entrypoint, " ") != "/feedmill" || strings.Join(c.Cmd, " ") != "serve" || strings.Join(c.Healthcheck.Test, " ") != "CMD /feedmill healthcheck" {
		t.Errorf("configuration: %+v", c)
	}
	files := filepath.Join(t.TempDir(), "root")
	unpack(t, blob(m.Layers[0].Digest), files)
	address := freeAddress(t)
	// A mount namespace of its own: the root is read-only, /tmp and the data are in memory, as a
	// container runtime would do it.
	script := `set -e
mount --bind "$1" "$1"; mount -o remount,bind,ro "$1"
mkdir -p "$2"; cd "$1"
mount -t tmpfs -o mode=1777 tmpfs tmp
mount -t tmpfs -o mode=0700,uid=65532,gid=65532 tmpfs var/lib/feedmill
shift 2
exec chroot . /feedmill serve`
	_ = os.Mkdir(filepath.Join(files, "proc"), 0o755)
	_ = os.Mkdir(filepath.Join(files, "dev"), 0o755)
	script = strings.Replace(script, "cd \"$1\"\n", "cd \"$1\"\nmount -t proc proc proc; mount --rbind /dev dev\n", 1)
	script = strings.Replace(script, "exec chroot . /feedmill serve", "exec chroot --userspec=65532:65532 . /feedmill serve", 1)
	server := exec.Command("unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script, "sh", files, t.TempDir())
	server.Env = append(c.Env, "FEEDMILL_LISTEN="+address, "FEEDMILL_BOOTSTRAP_KEY="+bootstrapKey, "PATH=/usr/sbin:/usr/bin:/sbin:/bin")
	use(t, server, address)
}

func unpack(t *testing.T, layer, folder string) {
	t.Helper()
	f, err := os.Open(layer)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	r := tar.NewReader(z)
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, h.Name)
		if h.Typeflag == tar.TypeDir {
			err = errors.Join(os.MkdirAll(path, 0o755), os.Chown(path, h.Uid, h.Gid))
		} else {
			var content []byte
			if content, err = io.ReadAll(r); err == nil {
				err = os.WriteFile(path, content, os.FileMode(h.Mode))
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

const bootstrapKey = "fm_key_of_the_test_of_releases"

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// use starts a server, uploads a file, reads it with a filter, which a worker does, receives a
// delivery, and stops the server.
func use(t *testing.T, server *exec.Cmd, address string) {
	t.Helper()
	received := make(chan string, 1)
	receiver := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		select {
		case received <- r.Header.Get("X-Service-Signature") + " " + string(body):
		default:
		}
	})}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go receiver.Serve(l)
	defer receiver.Close()
	var log bytes.Buffer
	server.Stdout, server.Stderr = &log, &log
	server.Env = append(server.Env, "FEEDMILL_EGRESS_ALLOW=127.0.0.0/8")
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Wait() }()
	defer func() {
		_ = server.Process.Kill()
		if t.Failed() {
			t.Logf("server:\n%s", log.String())
		}
	}()
	call := func(method, path, contentType, body string, status int) string {
		t.Helper()
		r, err := http.NewRequest(method, "http://"+address+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+bootstrapKey)
		if contentType != "" {
			r.Header.Set("Content-Type", contentType)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != status {
			t.Fatalf("%s %s: %d %s %v", method, path, resp.StatusCode, text, err)
		}
		return string(text)
	}
	await(t, ended, func() bool {
		resp, err := http.Get("http://" + address + "/readyz")
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
	var feed struct{ Data struct{ ID string } }
	if err := json.Unmarshal([]byte(call("POST", "/data_feeds?type=dataUpload", "text/csv", "item,price\npen,1.20\ncup,3.50\n", http.StatusCreated)), &feed); err != nil {
		t.Fatal(err)
	}
	if got := call("GET", "/data_feeds/"+feed.Data.ID+"/data?filter=price:gt:2", "", "", http.StatusOK); got != `[{"item":"cup","price":3.50}]` && strings.TrimSpace(got) != `[{"item":"cup","price":3.50}]` {
		t.Errorf("rows: %s", got)
	}
	call("POST", "/events/subscriptions", "application/json", fmt.Sprintf(`{"url":"http://%s/hook","events":["metric.created"]}`, l.Addr()), http.StatusCreated)
	call("POST", "/events", "application/json", `{"type":"metric.created","data":{"n":1}}`, http.StatusAccepted)
	select {
	case got := <-received:
		if signature, body, _ := strings.Cut(got, " "); len(signature) != sha256.Size*2 || !strings.Contains(body, `"n":1`) {
			t.Errorf("delivered: %s", got)
		}
	case <-time.After(2 * time.Minute):
		t.Error("nothing was delivered")
	}
}

func await(t *testing.T, ended <-chan error, ready func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !ready(); {
		select {
		case err := <-ended:
			t.Fatalf("the server ended: %v", err)
		case <-time.After(100 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			t.Fatal("the server is not ready")
		}
	}
}

// testComponents checks the list of components against what the program reports about itself.
func testComponents(t *testing.T, file string) {
	var list struct {
		BOMFormat  string
		Components []struct{ Name, PURL string }
	}
	if err := json.Unmarshal([]byte(read(t, file)), &list); err != nil {
		t.Fatal(err)
	}
	names := make(map[string]bool)
	for _, c := range list.Components {
		names[c.Name] = true
	}
	modules := 0
	for line := range strings.SplitSeq(output(t, exec.Command("go", "version", "-m", strings.TrimSuffix(file, ".cdx.json"))), "\n") {
		if fields := strings.Fields(line); len(fields) > 2 && fields[0] == "dep" {
			if modules++; !names[fields[1]] {
				t.Errorf("%s is missing", fields[1])
			}
		}
	}
	if list.BOMFormat != "CycloneDX" || modules < 20 {
		t.Errorf("%s with %d modules", list.BOMFormat, modules)
	}
}

func testRPM(t *testing.T, file string) {
	files := output(t, exec.Command("rpm", "-qp", "--qf", "[%{FILENAMES} %{FILEMODES:perms} %{FILEUSERNAME}\n]", file))
	for _, want := range []string{"/usr/bin/feedmill -rwxr-xr-x root", "/usr/lib/systemd/system/feedmill.service -rw-r--r-- root", "/etc/feedmill/feedmill.yaml -rw-r----- root"} {
		if !strings.Contains(files, want+"\n") {
			t.Errorf("%q is missing in\n%s", want, files)
		}
	}
	if scripts := output(t, exec.Command("rpm", "-qp", "--scripts", file)); !strings.Contains(scripts, "useradd --system") {
		t.Errorf("scripts:\n%s", scripts)
	}
}
