package nats

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// serveVariable makes the test binary a NATS server: its port and its folder.
const (
	portVariable   = "FEEDMILL_TEST_NATS_PORT"
	folderVariable = "FEEDMILL_TEST_NATS_FOLDER"
)

func TestMain(m *testing.M) {
	if port := os.Getenv(portVariable); port != "" {
		n, _ := strconv.Atoi(port)
		s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: n, JetStream: true, StoreDir: os.Getenv(folderVariable), NoLog: true, NoSigs: true})
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		s.Start()
		if !s.ReadyForConnections(30 * time.Second) {
			os.Exit(1)
		}
		fmt.Println("ready")
		select {}
	}
	os.Exit(m.Run())
}

// process is a NATS server in a process of its own, which can be killed.
type process struct {
	port   string
	folder string
	cmd    *exec.Cmd
}

func startProcess(t *testing.T) *process {
	p := &process{port: freePort(t), folder: t.TempDir()}
	p.start(t)
	t.Cleanup(func() { p.kill(t) })
	return p
}

// freePort is a port that nobody listens on.
func freePort(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

func (p *process) start(t *testing.T) {
	p.cmd = exec.Command(os.Args[0])
	p.cmd.Env = append(os.Environ(), portVariable+"="+p.port, folderVariable+"="+p.folder)
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("the server did not start: %q, %v", line, err)
	}
}

func (p *process) kill(t *testing.T) {
	if err := p.cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	p.cmd.Wait()
}

// startServer starts a server in this process.
func startServer(t *testing.T, o server.Options) *server.Server {
	t.Helper()
	o.Host, o.Port, o.NoLog, o.NoSigs = "127.0.0.1", -1, true, true
	if o.StoreDir = t.TempDir(); o.JetStream {
		o.JetStreamMaxMemory = 64 << 20
	}
	s, err := server.NewServer(&o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(30 * time.Second) {
		t.Fatal("the server did not start")
	}
	return s
}

// addStream makes a stream that stores subjects.
func addStream(t *testing.T, url string, config nats.StreamConfig, options ...nats.Option) nats.JetStreamContext {
	t.Helper()
	nc, err := nats.Connect(url, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := nc.JetStream()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.AddStream(&config); err != nil {
		t.Fatal(err)
	}
	return js
}

// stored are all messages of a subject.
func stored(t *testing.T, url, subject string, n int) (all []*nats.Msg) {
	t.Helper()
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := nc.JetStream()
	if err != nil {
		t.Fatal(err)
	}
	sub, err := js.SubscribeSync(subject, nats.OrderedConsumer())
	if err != nil {
		t.Fatal(err)
	}
	for len(all) < n {
		msg, err := sub.NextMsg(10 * time.Second)
		if err != nil {
			t.Fatalf("message %d of %d: %v", len(all)+1, n, err)
		}
		all = append(all, msg)
	}
	return all
}
