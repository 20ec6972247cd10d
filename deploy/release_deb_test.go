package deploy

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// testDeb installs the package of the previous release in a Debian of its own, uses it, upgrades
// it, removes it and purges it. The data of the previous release stays until the purge.
func testDeb(t *testing.T, root, dist string) {
	debian := filepath.Join(t.TempDir(), "debian")
	output(t, exec.Command("debootstrap", "--variant=minbase", "bookworm", debian))
	inside := func(script string) string {
		t.Helper()
		return output(t, exec.Command("chroot", debian, "sh", "-ec", script))
	}
	exists := func(path string) bool {
		_, err := os.Lstat(filepath.Join(debian, path))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		return err == nil
	}
	// use starts the installed program as its user.
	run := func() {
		t.Helper()
		address := freeAddress(t)
		server := exec.Command("unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-ec",
			`mount -t proc proc "$1/proc"; exec chroot --userspec=feedmill:feedmill "$1" /usr/bin/feedmill serve --config /etc/feedmill/feedmill.yaml`, "sh", debian)
		server.Env = []string{"FEEDMILL_LISTEN=" + address, "FEEDMILL_BOOTSTRAP_KEY=" + bootstrapKey, "PATH=/usr/sbin:/usr/bin:/sbin:/bin"}
		use(t, server, address)
	}

	install := func(file string) {
		t.Helper()
		copyFile(t, file, filepath.Join(debian, "root/feedmill.deb"))
		inside("dpkg -i /root/feedmill.deb")
	}
	install(previousPackage(t, root, dist))
	run()
	if before := inside("feedmill version"); !strings.Contains(before, "version 1.2.2 ") {
		t.Errorf("before: %s", before)
	}
	inside("echo 'logLevel: warn' >>/etc/feedmill/feedmill.yaml")
	records, err := os.Stat(filepath.Join(debian, "var/lib/feedmill/feedmill.db"))
	if err != nil {
		t.Fatal(err)
	}
	install(filepath.Join(dist, "feedmill_1.2.3_amd64.deb"))
	if after := inside("feedmill version"); !strings.Contains(after, "version 1.2.3 ") {
		t.Errorf("after: %s", after)
	}
	if settings := inside("cat /etc/feedmill/feedmill.yaml"); !strings.Contains(settings, "logLevel: warn") {
		t.Errorf("the upgrade changed the settings:\n%s", settings)
	}
	if after, err := os.Stat(filepath.Join(debian, "var/lib/feedmill/feedmill.db")); err != nil || !os.SameFile(records, after) {
		t.Errorf("the upgrade replaced the records: %v", err)
	}
	run()
	inside("dpkg --remove feedmill")
	if exists("usr/bin/feedmill") || !exists("var/lib/feedmill/feedmill.db") || !exists("etc/feedmill/feedmill.yaml") {
		t.Error("remove: the program stays, or the data or settings are gone")
	}
	install(filepath.Join(dist, "feedmill_1.2.3_amd64.deb"))
	run()
	inside("dpkg --purge feedmill")
	if exists("usr/bin/feedmill") || exists("var/lib/feedmill") || exists("etc/feedmill") {
		t.Error("purge: files are left")
	}
	if users := inside("cat /etc/passwd"); strings.Contains(users, "feedmill") {
		t.Errorf("purge: the user is left:\n%s", users)
	}
}

// previousPackage packs the program of the previous release, which had no packages, as 1.2.2.
func previousPackage(t *testing.T, root, dist string) string {
	t.Helper()
	commit := strings.TrimSpace(read(t, filepath.Join(root, "cmd/feedmill/testdata/previous-release")))
	folder := filepath.Join(t.TempDir(), "previous")
	output(t, exec.Command("git", "-C", root, "worktree", "add", "--detach", folder, commit))
	defer func() { output(t, exec.Command("git", "-C", root, "worktree", "remove", "--force", folder)) }()
	old := filepath.Join(t.TempDir(), "dist")
	if err := os.CopyFS(filepath.Join(old, "man"), os.DirFS(filepath.Join(dist, "man"))); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(old, "completions"), os.DirFS(filepath.Join(dist, "completions"))); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("make", "-s", "-f", filepath.Join(root, "Makefile"), "static", "VERSION=1.2.2", "OUT="+filepath.Join(old, "feedmill-linux-amd64"))
	build.Dir = folder
	output(t, build)
	pack := exec.Command(filepath.Join(dist, "../bin/tools/nfpm"), "package", "--config", "deploy/packages/nfpm.yaml", "--packager", "deb", "--target", old)
	pack.Dir = root
	pack.Env = append(os.Environ(), "DIST="+old, "ARCH=amd64", "PACKAGE_VERSION=1.2.2", "SOURCE_DATE_EPOCH=1780000000")
	output(t, pack)
	return filepath.Join(old, "feedmill_1.2.2_amd64.deb")
}

// testARM64 runs the program for ARM in an emulator. Its workers are started by the kernel, so the
// kernel has to know the emulator.
func testARM64(t *testing.T, program string) {
	const registry = "/proc/sys/fs/binfmt_misc"
	if _, err := os.Stat(registry + "/register"); err != nil {
		if out, err := exec.Command("mount", "-t", "binfmt_misc", "binfmt_misc", registry).CombinedOutput(); err != nil {
			t.Skipf("the kernel cannot register an emulator: %v %s", err, out)
		}
		t.Cleanup(func() { output(t, exec.Command("umount", registry)) })
	}
	const magic = `\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00`
	const mask = `\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff`
	if err := os.WriteFile(registry+"/register", []byte(":feedmill-test-arm64:M::"+magic+":"+mask+":/usr/bin/qemu-aarch64-static:F"), 0o200); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.WriteFile(registry+"/feedmill-test-arm64", []byte("-1"), 0o200) })
	address := freeAddress(t)
	server := exec.Command(program, "serve", "--data", filepath.Join(t.TempDir(), "data"))
	server.Env = []string{"FEEDMILL_LISTEN=" + address, "FEEDMILL_BOOTSTRAP_KEY=" + bootstrapKey}
	use(t, server, address)
}
