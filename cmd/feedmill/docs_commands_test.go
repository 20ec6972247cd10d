package main

import (
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill/client"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// block is a block of shell commands of a page. A comment before it, such as
// <!-- run: background listen -->, says how to run it:
//
//	server           the test has started the server already
//	stopped          runs while the server is stopped
//	data             runs beside the data folder of a server of the page's own
//	background NAME  runs until the end of the page
//	expect NAME RE   (without a block) waits until NAME prints what matches
type block struct {
	directive, text string
	line            int
}

var runComment = regexp.MustCompile(`^<!-- run: (.*) -->$`)

// readBlocks returns the commands of a page. Commands in indented blocks would not be run, so
// they are an error.
func readBlocks(t *testing.T, file string) []block {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var blocks []block
	var directive, fence string
	for i, line := range strings.Split(string(text), "\n") {
		switch {
		case fence != "" && line == "```":
			fence = ""
		case fence == "```sh":
			blocks[len(blocks)-1].text += line + "\n"
		case fence != "":
		case strings.HasPrefix(line, "```"):
			if fence = line; fence == "```sh" {
				blocks = append(blocks, block{directive: directive, line: i + 1})
			}
			directive = ""
		case runComment.MatchString(line):
			directive = runComment.FindStringSubmatch(line)[1]
			if strings.HasPrefix(directive, "expect ") {
				blocks = append(blocks, block{directive: directive, line: i + 1})
				directive = ""
			}
		case regexp.MustCompile(`^    (bin/)?(feedmill|curl|psql|sqlite3) `).MatchString(line):
			t.Errorf("%s:%d: put the command into a block with the language sh", file, i+1)
		}
	}
	return blocks
}

// TestDocumentedCommands runs every command of the README and the documentation. Only ids,
// keys and ports are replaced.
func TestDocumentedCommands(t *testing.T) {
	t.Parallel()
	files := []string{"../../README.md"}
	err := filepath.WalkDir("../../docs", func(file string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(file, ".md") {
			files = append(files, file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	server := serve(t, filepath.Join(t.TempDir(), "data"), "FEEDMILL_BOOTSTRAP_KEY="+sharedFirstKey, "FEEDMILL_EGRESS_ALLOW=127.0.0.0/8", "FEEDMILL_LOG_LEVEL=error")
	pages := 0
	for _, file := range files {
		blocks := readBlocks(t, file)
		if len(blocks) == 0 {
			continue
		}
		pages++
		t.Run(strings.TrimSuffix(strings.TrimPrefix(file, "../../"), ".md"), func(t *testing.T) {
			r := newReader(t, server, blocks)
			for _, b := range blocks {
				if !r.run(b) {
					t.Fatalf("%s:%d failed", file, b.line)
				}
			}
		})
	}
	if pages < 8 {
		t.Errorf("%d pages have commands", pages)
	}
}

// reader does what a page says, in a folder and a workspace of its own.
type reader struct {
	t            *testing.T
	server       *process
	folder       string
	replacements []string
	// ids has the newest id of each kind.
	ids, seen  map[string]string
	background map[string]*process
}

func newReader(t *testing.T, server *process, blocks []block) *reader {
	t.Helper()
	r := &reader{t: t, server: server, folder: t.TempDir(), ids: make(map[string]string), seen: make(map[string]string), background: make(map[string]*process)}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(r.folder, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(r.folder, "bin", program)); err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(blocks, func(b block) bool { return b.directive == "stopped" || b.directive == "data" }) {
		r.server = serve(t, filepath.Join(r.folder, "feedmill-data"))
		r.ids["fm"] = r.server.mustFirstKey(t)
	} else {
		r.ids["fm"] = newWorkspaceKey(t, server)
	}
	r.replacements = []string{"http://127.0.0.1:8080", r.server.url, "127.0.0.1:9000", fmt.Sprint("127.0.0.1:", pgtest.FreePort()), `("127.0.0.1", 9000)`, ""}
	r.replacements[5] = `("127.0.0.1", ` + strings.TrimPrefix(r.replacements[3], "127.0.0.1:") + ")"
	env := "export FEEDMILL_SERVER=" + r.server.url + " FEEDMILL_API_KEY=" + r.ids["fm"] + "\n"
	if slices.ContainsFunc(blocks, func(b block) bool { return strings.Contains(b.text, "psql ") }) {
		address, err := url.Parse(pgtest.New(t))
		if err != nil {
			t.Fatal(err)
		}
		password, _ := address.User.Password()
		env += "export PGPORT=" + address.Port() + " PGPASSWORD='" + password + "'\n"
		r.replacements = append(r.replacements, "port=5432", "port="+address.Port(), "-U postgres", "-U "+address.User.Username())
	}
	if err := os.WriteFile(filepath.Join(r.folder, ".env"), []byte(env), 0o600); err != nil {
		t.Fatal(err)
	}
	return r
}

// newWorkspaceKey returns a key with every scope in a new workspace.
func newWorkspaceKey(t *testing.T, server *process) string {
	t.Helper()
	c := server.client(sharedFirstKey)
	w, err := c.CreateWorkspace(t.Context(), strings.ToLower(strings.NewReplacer("/", "-", "_", "-").Replace(t.Name())))
	if err != nil {
		t.Fatal(err)
	}
	k, err := c.CreateKey(t.Context(), client.NewKey{Name: "reader", Scopes: []string{"admin", "api:read", "api:write", "events:publish"}, WorkspaceID: w.ID})
	if err != nil {
		t.Fatal(err)
	}
	return k.Secret
}

var (
	placeholder = regexp.MustCompile(`\b([a-z]{2,5})_…`)
	anyID       = regexp.MustCompile(`\b(df|sub|dlv|evt|key|con|rfr|rpl|lnk|ptl|ws)_[0-9a-z]{26}\b|\b(whsec)_[A-Za-z0-9+/]+=*`)
)

// lastCommand is what a background block ends with; it takes the place of the shell, so that
// it ends with it.
var lastCommand = regexp.MustCompile(`(?m)^(feedmill listen|python3) `)

// shell is a command that runs a text with the variables of the blocks before it.
func (r *reader) shell(text string) *exec.Cmd {
	text = strings.NewReplacer(r.replacements...).Replace(text)
	text = placeholder.ReplaceAllStringFunc(text, func(p string) string {
		if id := r.ids[strings.TrimSuffix(p, "_…")]; id != "" {
			return id
		}
		return p
	})
	cmd := exec.Command("bash", "-e", "-o", "pipefail", "-c", ". ./.env\n"+text+"\nexport -p > .env")
	cmd.Dir = r.folder
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "FEEDMILL_") {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	// A command with another host than this machine fails without looking it up.
	cmd.Env = append(cmd.Env, "https_proxy=http://127.0.0.1:1", "http_proxy=http://127.0.0.1:1", "no_proxy=127.0.0.1,localhost,::1")
	cmd.Env = append(cmd.Env, "HOME="+r.folder, "PATH="+filepath.Join(r.folder, "bin")+":"+os.Getenv("PATH"))
	return cmd
}

func (r *reader) run(b block) bool {
	word, rest, _ := strings.Cut(b.directive, " ")
	switch word {
	case "server":
		return true
	case "stopped":
		r.server.mustStop(r.t)
		b.text = "unset FEEDMILL_API_KEY FEEDMILL_SERVER\n" + b.text
	case "background":
		p, err := begin(r.shell(lastCommand.ReplaceAllString(b.text, "exec $1 ")))
		if err != nil {
			r.t.Error(err)
			return false
		}
		p.until(r.t, nil)
		r.background[rest] = p
		if strings.Contains(b.text, "feedmill listen") {
			secret, err := p.find(`(whsec_\S+)`)
			r.ids["whsec"] = secret
			return err == nil
		}
		return r.listening(r.replacements[3])
	case "expect":
		name, pattern, _ := strings.Cut(rest, " ")
		if _, err := r.background[name].find("(?m)(" + pattern + ")"); err != nil {
			r.t.Error(err)
			return false
		}
		return true
	}
	for _, text := range pieces(b.text) {
		out, err := r.shell(text).CombinedOutput()
		for _, m := range anyID.FindAllStringSubmatch(string(out), -1) {
			if r.seen[m[0]] == "" {
				r.seen[m[0]] = m[0]
				r.ids[m[1]+m[2]] = m[0]
			}
		}
		if err != nil {
			r.t.Errorf("%v\n%s\n%s", err, text, out)
			return false
		}
	}
	return true
}

// listening waits until a background block accepts connections.
func (r *reader) listening(address string) bool {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if conn, err := net.Dial("tcp", address); err == nil {
			conn.Close()
			return true
		}
	}
	r.t.Errorf("nothing listens on %s", address)
	return false
}

var withID = regexp.MustCompile(`^(feedmill|curl|psql) .*_…`)

// pieces splits a block before each command with an id, which the commands before it print.
func pieces(text string) []string {
	all := []string{""}
	for line := range strings.Lines(text) {
		if withID.MatchString(line) {
			all = append(all, "")
		}
		all[len(all)-1] += line
	}
	return all
}
