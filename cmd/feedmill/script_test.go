package main

import (
	"database/sql"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	_ "github.com/mattn/go-sqlite3" // the driver "sqlite3"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/feedmill/feedmill/internal/config"
)

// TestScripts runs the scripts in testdata/script, each in a folder of its own.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", Cmds: scriptCommands, RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Values[serversKey] = make(map[string]*process)
			e.Setenv(raceEnv, os.Getenv(raceEnv))
			e.Setenv("GOGC", "400") // for hundreds of processes that live for a moment
			return nil
		},
	})
}

const serversKey = "servers"

// scriptCommands are what a line of a script can begin with, beside
// testscript's own.
var scriptCommands = map[string]func(s *testscript.TestScript, neg bool, args []string){
	// capture NAME PATTERN sets a variable to the first group of what
	// matches in what the last program printed.
	"capture": func(s *testscript.TestScript, _ bool, args []string) {
		m := regexp.MustCompile(`(?m)` + args[1]).FindStringSubmatch(s.ReadFile("stdout") + s.ReadFile("stderr"))
		if m == nil {
			s.Fatalf("nothing matches %s", args[1])
		}
		s.Setenv(args[0], m[1])
	},
	// serve NAME ARGS... starts a server on a free port, waits until it
	// listens, and sets URL and ADDRESS.
	"serve": func(s *testscript.TestScript, _ bool, args []string) {
		var env []string
		for _, setting := range config.Settings {
			if value := s.Getenv(setting.Env()); value != "" {
				env = append(env, setting.Env()+"="+value)
			}
		}
		p, err := launch(s.MkAbs("."), env, args[1:]...)
		s.Check(err)
		s.Defer(p.kill)
		s.Value(serversKey).(map[string]*process)[args[0]] = p
		s.Setenv("URL", p.url)
		s.Setenv("ADDRESS", strings.TrimPrefix(p.url, "http://"))
	},
	// firstkey NAME sets KEY to the key that the server has printed.
	"firstkey": func(s *testscript.TestScript, _ bool, args []string) {
		key, err := s.Value(serversKey).(map[string]*process)[args[0]].firstKey()
		s.Check(err)
		s.Setenv("KEY", key)
	},
	// end NAME ends a server in good order.
	"end": func(s *testscript.TestScript, _ bool, args []string) {
		s.Check(s.Value(serversKey).(map[string]*process)[args[0]].stop())
	},
	// exits CODE PROGRAM ARGS... runs a program that is to end with the code.
	"exits": func(s *testscript.TestScript, _ bool, args []string) {
		code := 0
		if err := s.Exec(args[1], args[2:]...); err != nil {
			exit, ok := errors.AsType[*exec.ExitError](err)
			if !ok {
				s.Fatalf("%v", err)
			}
			code = exit.ExitCode()
		}
		if want := args[0]; strconv.Itoa(code) != want {
			s.Fatalf("the exit code is %d, want %s\nstdout:\n%s\nstderr:\n%s", code, want, s.ReadFile("stdout"), s.ReadFile("stderr"))
		}
	},
	// listen NAME ARGS... starts "feedmill listen" and waits until it listens.
	"listen": func(s *testscript.TestScript, _ bool, args []string) {
		p, err := launchListener(s.MkAbs("."), s.Getenv("FEEDMILL_SERVER"), s.Getenv("FEEDMILL_API_KEY"), args[1:]...)
		s.Check(err)
		s.Defer(p.kill)
		s.Value(serversKey).(map[string]*process)[args[0]] = p
	},
	// shows NAME PATTERN waits until what was started has printed what
	// matches, and sets FOUND to the first group of it.
	"shows": func(s *testscript.TestScript, _ bool, args []string) {
		found, err := s.Value(serversKey).(map[string]*process)[args[0]].find(`(?m)(` + args[1] + `)`)
		s.Check(err)
		if m := regexp.MustCompile(`(?m)` + args[1]).FindStringSubmatch(found); len(m) > 1 {
			s.Setenv("FOUND", m[1])
		}
	},
	// interrupt NAME ends what was started as Ctrl-C does, in good order.
	"interrupt": func(s *testscript.TestScript, _ bool, args []string) {
		p := s.Value(serversKey).(map[string]*process)[args[0]]
		s.Check(p.cmd.Process.Signal(os.Interrupt))
		s.Check(p.wait())
	},
	// eventually PATTERN PROGRAM ARGS... runs a program until what it prints
	// matches.
	"eventually": func(s *testscript.TestScript, _ bool, args []string) {
		pattern := regexp.MustCompile(`(?m)` + args[0])
		for begun := time.Now(); ; {
			s.Check(s.Exec(args[1], args[2:]...))
			if pattern.MatchString(s.ReadFile("stdout")) {
				return
			}
			if time.Since(begun) > patience {
				s.Fatalf("%s does not show:\n%s", args[0], s.ReadFile("stdout"))
			}
			time.Sleep(pause(begun))
		}
	},
	// sink starts an endpoint that answers with the status that its path
	// ends with, and sets SINK to its address.
	"sink": func(s *testscript.TestScript, _ bool, _ []string) {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			status, err := strconv.Atoi(path.Base(r.URL.Path))
			if err != nil {
				status = http.StatusNotFound
			}
			w.WriteHeader(status)
			io.WriteString(w, "an answer\nwith \x1b[31mcolour\n")
		}))
		s.Defer(server.Close)
		s.Setenv("SINK", server.URL)
	},
	// source starts a REST API to fetch from and sets SOURCE to its address.
	"source": func(s *testscript.TestScript, _ bool, _ []string) {
		server := startSource()
		s.Defer(server.Close)
		s.Setenv("SOURCE", server.URL)
	},
	// fill FILE writes the values of variables into a file in place of their
	// names, such as $SOURCE.
	"fill": func(s *testscript.TestScript, _ bool, args []string) {
		s.Check(os.WriteFile(s.MkAbs(args[0]), []byte(os.Expand(s.ReadFile(args[0]), func(name string) string {
			if value := s.Getenv(name); value != "" {
				return value
			}
			return "$" + name
		})), 0o600))
	},
	// lines FILE COUNT LINE writes a file with the same line many times.
	"lines": func(s *testscript.TestScript, _ bool, args []string) {
		count, err := strconv.Atoi(args[1])
		s.Check(err)
		s.Check(os.WriteFile(s.MkAbs(args[0]), []byte(strings.Repeat(args[2]+"\n", count)), 0o600))
	},
	// sqlite FILE STATEMENT changes a database behind the program's back.
	"sqlite": func(s *testscript.TestScript, _ bool, args []string) {
		db, err := sql.Open("sqlite3", s.MkAbs(args[0]))
		s.Check(err)
		defer db.Close()
		_, err = db.Exec(args[1])
		s.Check(err)
	},
}
