package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	// attackerEnv makes the test binary the process that attacks. It has the attacker as JSON.
	attackerEnv = "TEST_ATTACKER"
	// attackOver begins the line that ends the output of an attack.
	attackOver = "the attack is over: "
	// attackNice is by how much that process has less of the processors than the server, as
	// nice(1) counts.
	attackNice = "10"
	// toFinish and toDie are the lines that end an attack. After the second the attack goes on until the process is
	// killed.
	toFinish, toDie = "finish", "die"
)

// attackProcess is a process that attacks. Attackers bring their own machine: a request of the
// neighbour shall wait for the server, and neither for a client that takes the processors from it nor
// for goroutines of its own process.
type attackProcess struct {
	attacker *attacker
	cmd      *exec.Cmd
	in       io.WriteCloser
	out      *bufio.Reader
}

// begin starts an attack, which is repeated until end is called.
func (o *attackProcess) begin(t *testing.T, name string) {
	t.Helper()
	if o.cmd == nil {
		o.start(t)
	}
	if _, err := fmt.Fprintln(o.in, name); err != nil {
		t.Fatal(err)
	}
}

func (o *attackProcess) start(t *testing.T) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	who, err := json.Marshal(o.attacker)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("nice", "-n", attackNice, self, "-test.run=^TestAttacker$", "-test.v", "-test.timeout=1h")
	cmd.Env = append(os.Environ(), attackerEnv+"="+string(who))
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	o.cmd, o.in, o.out = cmd, in, bufio.NewReader(out)
}

// end waits until the attack has finished, or ends the process in the middle of it, and reports the
// errors of the attack.
func (o *attackProcess) end(t *testing.T, inTheMiddle bool) {
	t.Helper()
	how := toFinish
	if inTheMiddle {
		how = toDie
	}
	if _, err := fmt.Fprintln(o.in, how); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for {
		line, err := o.out.ReadString('\n')
		if passed, over := strings.CutPrefix(line, attackOver); over {
			if passed != "true\n" {
				t.Errorf("the attack failed:\n%s", text.String())
			}
			break
		}
		text.WriteString(line)
		if err != nil {
			o.kill()
			t.Fatalf("the attacker ended: %v\n%s", err, text.String())
		}
	}
	if inTheMiddle {
		o.kill()
	}
}

// kill ends the process, however far it is.
func (o *attackProcess) kill() {
	if o.cmd == nil {
		return
	}
	_ = o.cmd.Process.Kill() // it is a child that nobody has waited for
	_ = o.cmd.Wait()         // it was killed
	o.cmd = nil
}

// TestAttacker is the process that attacks. It reads names of attacks, and repeats each until the
// next line.
func TestAttacker(t *testing.T) {
	who := os.Getenv(attackerEnv)
	if who == "" {
		t.Skip("TestAttacks starts it with an attacker")
	}
	a := new(attacker)
	if err := json.Unmarshal([]byte(who), a); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		i := slices.IndexFunc(allAttacks, func(one attack) bool { return one.name == lines.Text() })
		if i < 0 {
			t.Fatalf("%s is not an attack", lines.Text())
		}
		stopped, stop := context.WithCancel(t.Context())
		read := make(chan struct{})
		passed := t.Run(lines.Text(), func(t *testing.T) {
			go func() {
				defer close(read)
				if lines.Scan() && lines.Text() == toDie {
					fmt.Printf("\n%s%v\n", attackOver, !t.Failed())
					lines.Scan() // until this process is killed
				}
				stop()
			}()
			a.t, a.stopped = t, stopped
			for ok := true; ok; ok = stopped.Err() == nil {
				allAttacks[i].run(t.Context(), a)
			}
		})
		<-read
		fmt.Printf("\n%s%v\n", attackOver, passed)
	}
}

// during waits until an attack has gone on for long enough, and the neighbour has made enough requests. It
// returns the most memory that the server and its workers had in each half.
func (p *process) during(length time.Duration, n *neighbour) (halves [2]int64) {
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		half := 0
		if time.Since(began) > length/2 {
			half = 1
		}
		halves[half] = max(halves[half], p.resident())
		if time.Since(began) >= length && n.requests.Load() >= enoughRequests || n.failed.Load() {
			return halves
		}
	}
}
