package jstext

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestAppendAgreesWithTheOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := []byte(genJSON().Draw(t, "src"))
		got, err := Append(nil, src)
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		if want, _ := oracleText(t, src); string(got) != want {
			t.Fatalf("%s\n got %s\nwant %s", src, got, want)
		}
		again, err := Append(nil, got)
		if err != nil || !bytes.Equal(again, got) {
			t.Fatalf("%s\nbecame %s, %v", got, again, err)
		}
	})
}

// The law itself, asked of JavaScript: the text is a fixed point exactly when
// every number in it is held.
func TestAppendIsAFixedPointOfJavaScript(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil && os.Getenv("CI") == "true" {
		t.Fatal("Node.js is missing")
	} else if err != nil {
		t.Skip("Node.js is missing: the law was not asked of JavaScript itself")
	}
	const law = `
		const lines = require("fs").readFileSync(0, "utf8").split("\n");
		for (const t of lines.slice(0, -1)) console.log(JSON.stringify(JSON.parse(t)) === t);`
	var texts, want bytes.Buffer
	payloads := genJSON()
	for seed := range 2000 {
		src := []byte(payloads.Example(seed))
		text, err := Append(nil, src)
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		_, held := oracleText(t, src)
		fmt.Fprintf(&texts, "%s\n", text)
		fmt.Fprintln(&want, held)
	}
	cmd := exec.CommandContext(t.Context(), node, "-e", law)
	cmd.Stdin = bytes.NewReader(texts.Bytes())
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("node: %v\n%s", err, stderr.Bytes())
	}
	got := strings.Split(string(out), "\n")
	wanted := strings.Split(want.String(), "\n")
	if len(got) != len(wanted) {
		t.Fatalf("node judged %d texts of %d", len(got)-1, len(wanted)-1)
	}
	for i, text := range strings.Split(texts.String(), "\n") {
		if got[i] != wanted[i] {
			t.Errorf("fixed point: %s, want %s: %s", got[i], wanted[i], text)
		}
	}
}
