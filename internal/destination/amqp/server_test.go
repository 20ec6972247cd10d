package amqp

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// script starts RabbitMQ as it is, without Debian's service.
const script = "/usr/lib/rabbitmq/bin/rabbitmq-server"

// maxMessage is the largest message that the server takes.
const maxMessage = 2 << 20

// server is a RabbitMQ server with a folder and ports of its own.
type server struct {
	folder, port, securePort string
	env                      []string
	cmd                      *exec.Cmd
	// epmd knows the port of the server, and roots its certificate.
	epmd  *exec.Cmd
	roots *x509.CertPool
	cert  *httptest.Server
}

// freePort is a port that nobody listens on.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// startServer starts a server with the users ada, who may do everything, and bob, who may
// not publish.
func startServer(t *testing.T) *server {
	t.Helper()
	if _, err := os.Stat(script); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("rabbitmq-server is not installed; run scripts/setup")
		}
		t.Skip("rabbitmq-server is not installed; run scripts/setup")
	}
	s := &server{folder: t.TempDir(), port: freePort(t), securePort: freePort(t), cert: httptest.NewTLSServer(nil), roots: x509.NewCertPool()}
	t.Cleanup(s.cert.Close)
	s.roots.AddCert(s.cert.Certificate())
	s.configure(t)
	epmdPort := freePort(t)
	s.env = []string{
		"PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "HOME=" + s.folder, "RUNNING_UNDER_SYSTEMD=yes",
		"ERL_EPMD_PORT=" + epmdPort, "ERL_EPMD_ADDRESS=127.0.0.1",
		"RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=-kernel inet_dist_use_interface {127,0,0,1}",
		"RABBITMQ_NODENAME=test" + s.port + "@localhost", "RABBITMQ_DIST_PORT=" + freePort(t),
		"RABBITMQ_BASE=" + s.folder, "RABBITMQ_MNESIA_BASE=" + s.path("data"), "RABBITMQ_LOG_BASE=" + s.path("log"), "RABBITMQ_LOGS=-",
		"RABBITMQ_CONFIG_FILE=" + s.path("rabbitmq.conf"), "RABBITMQ_ENABLED_PLUGINS_FILE=" + s.path("plugins"), "RABBITMQ_CONF_ENV_FILE=/dev/null",
		"RABBITMQ_PID_FILE=" + s.path("pid"), "RABBITMQ_GENERATED_CONFIG_DIR=" + s.path("generated"),
	}
	s.epmd = s.command("epmd", "-port", epmdPort, "-address", "127.0.0.1")
	if err := s.epmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.start(t)
	t.Cleanup(func() {
		s.kill(t)
		kill(t, s.epmd)
	})
	return s
}

func (s *server) path(name string) string { return filepath.Join(s.folder, name) }

// configure writes the files that the server reads.
func (s *server) configure(t *testing.T) {
	t.Helper()
	chain := s.cert.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(chain.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	type object = map[string]any
	users, permissions := []object{}, []object{}
	for user, write := range map[string]string{"guest": ".*", "ada": ".*", "bob": ""} {
		for _, vhost := range []string{"/", "a/b"} {
			permissions = append(permissions, object{"user": user, "vhost": vhost, "configure": ".*", "write": write, "read": ".*"})
		}
		password := "Pa55word"
		if user == "guest" {
			password = "guest"
		}
		sum := sha256.Sum256([]byte("salt" + password))
		users = append(users, object{"name": user, "tags": "administrator", "hashing_algorithm": "rabbit_password_hashing_sha256", "password_hash": base64.StdEncoding.EncodeToString(append([]byte("salt"), sum[:]...))})
	}
	definitions, err := json.Marshal(object{"users": users, "vhosts": []object{{"name": "/"}, {"name": "a/b"}, {"name": "closed"}}, "permissions": permissions})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"plugins":          "[].",
		"definitions.json": string(definitions),
		"cert.pem":         string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: chain.Certificate[0]})),
		"key.pem":          string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})),
		"rabbitmq.conf": strings.Join([]string{
			"listeners.tcp.default = 127.0.0.1:" + s.port,
			"listeners.ssl.default = 127.0.0.1:" + s.securePort,
			"ssl_options.certfile = " + s.path("cert.pem"),
			"ssl_options.keyfile = " + s.path("key.pem"),
			"ssl_options.verify = verify_none",
			"load_definitions = " + s.path("definitions.json"),
			fmt.Sprintf("max_message_size = %d", maxMessage),
			"log.console.level = error",
			"",
		}, "\n"),
	} {
		if err := os.WriteFile(s.path(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// command is a program with the server's environment that ends with this one.
func (s *server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.Dir = s.env, s.folder
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	return cmd
}

// start starts the server and returns when it can be used.
func (s *server) start(t *testing.T) {
	t.Helper()
	out, err := os.OpenFile(s.path("out"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	s.cmd = s.command(script)
	s.cmd.Stdout, s.cmd.Stderr = out, out
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(3 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if c, err := amqp.Dial(s.url("")); err == nil {
			c.Close()
			return
		} else if time.Now().After(end) {
			text, _ := os.ReadFile(s.path("out"))
			t.Fatalf("the server did not start: %v\n%s", err, text)
		}
	}
}

func (s *server) url(rest string) string { return "amqp://127.0.0.1:" + s.port + "/" + rest }

func (s *server) kill(t *testing.T) { kill(t, s.cmd) }

func kill(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
	cmd.Wait()
}

// admin is a channel of a user who may do everything.
func (s *server) admin(t *testing.T, vhost string) *amqp.Channel {
	t.Helper()
	c, err := amqp.DialConfig(s.url(""), amqp.Config{Vhost: vhost})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	ch, err := c.Channel()
	if err != nil {
		t.Fatal(err)
	}
	return ch
}

// addQueue makes a durable queue, bound to an exchange if it is not empty.
func addQueue(t *testing.T, ch *amqp.Channel, queue, exchange, key string, args amqp.Table) {
	t.Helper()
	if _, err := ch.QueueDeclare(queue, true, false, false, false, args); err != nil {
		t.Fatal(err)
	}
	if exchange == "" {
		return
	}
	if err := ch.ExchangeDeclare(exchange, "direct", true, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	if err := ch.QueueBind(queue, key, exchange, false, nil); err != nil {
		t.Fatal(err)
	}
}

// stored are all messages of a queue.
func stored(t *testing.T, ch *amqp.Channel, queue string) (all []amqp.Delivery) {
	t.Helper()
	q, err := ch.QueueDeclarePassive(queue, true, false, false, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	deliveries, err := ch.Consume(queue, "", true, false, false, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range q.Messages {
		select {
		case d := <-deliveries:
			all = append(all, d)
		case <-time.After(time.Minute):
			t.Fatalf("message %d of %d is missing", len(all)+1, q.Messages)
		}
	}
	return all
}
