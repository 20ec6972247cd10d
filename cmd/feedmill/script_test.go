package main

import (
	"database/sql"
	"regexp"
	"strings"
	"testing"

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
	// sqlite FILE STATEMENT changes a database behind the program's back.
	"sqlite": func(s *testscript.TestScript, _ bool, args []string) {
		db, err := sql.Open("sqlite3", s.MkAbs(args[0]))
		s.Check(err)
		defer db.Close()
		_, err = db.Exec(args[1])
		s.Check(err)
	},
}
