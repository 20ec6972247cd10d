// Package amqp publishes deliveries to exchanges of brokers with AMQP 0-9-1, such as
// RabbitMQ. A delivery is delivered when the broker has confirmed that all queues which take
// the message have stored it.
package amqp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/destination/broker"
)

// Protocol is AMQP 0-9-1.
type Protocol struct{}

// Name is the name of the kind.
func (Protocol) Name() feedmill.DestinationKind { return feedmill.DestinationAMQP }

// Form describes the URLs.
func (Protocol) Form() broker.Form {
	return broker.Form{
		Plain: "amqp", Secure: "amqps", PlainPort: "5672", SecurePort: "5671",
		Example:  "amqp://rabbitmq.example.com:5672/vhost?exchange=events&routingKey=orders",
		MaxHosts: 1, Credentials: []string{"username", "password"},
	}
}

// maxName is the maximum length of a name in the protocol.
const maxName = 255

// CheckAddress checks the virtual host, the exchange and the routing key.
func (Protocol) CheckAddress(a broker.Address) string {
	for name, values := range a.Query {
		switch {
		case name != "exchange" && name != "routingKey":
			return "The query of url must have only exchange and routingKey."
		case len(values) > 1:
			return "url must have " + name + " only once."
		case len(values[0]) > maxName, strings.ContainsFunc(values[0], isControl):
			return fmt.Sprintf("%s must have at most %d bytes, without control characters.", name, maxName)
		}
	}
	switch {
	case a.Query.Get("exchange") == "" && a.Query.Get("routingKey") == "":
		return "url must have an exchange, such as ?exchange=events, or the name of a queue, such as ?routingKey=orders."
	case len(a.Path) > maxName, strings.ContainsFunc(a.Path, isControl):
		return fmt.Sprintf("The virtual host must have at most %d bytes, without control characters.", maxName)
	}
	return ""
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// CheckCredentials checks that the credentials are complete.
func (Protocol) CheckCredentials(c map[string]string) string {
	if (c["username"] == "") != (c["password"] == "") {
		return "username and password must be set together."
	}
	return ""
}

const (
	// heartbeat is how often a connection is tested.
	heartbeat = 10 * time.Second
	// frameSize bounds the frames of a broker.
	frameSize = 128 << 10
	// guest is the user of a broker without users, and its password.
	guest = "guest"
)

// Connect opens a connection. It does not reconnect: the next attempt opens a new one.
func (Protocol) Connect(ctx context.Context, s broker.Settings) (broker.Conn, error) {
	socket, err := s.Open(ctx, "tcp", s.Address.Hosts[0])
	if err != nil {
		return nil, err
	}
	user := &amqp.PlainAuth{Username: s.Credentials["username"], Password: s.Credentials["password"]}
	if user.Username == "" {
		user.Username, user.Password = guest, guest
	}
	vhost := s.Address.Path
	if vhost == "" {
		vhost = "/"
	}
	client, err := amqp.Open(newBounded(socket), amqp.Config{
		SASL: []amqp.Authentication{user}, Vhost: vhost, Heartbeat: heartbeat, FrameSize: frameSize, Locale: "en_US",
		Properties: amqp.Table{"product": "Feedmill", "connection_name": "feedmill"},
	})
	if err != nil {
		socket.Close()
		return nil, connectRefusal(err)
	}
	c := &conn{amqp: client, exchange: s.Address.Query.Get("exchange"), key: s.Address.Query.Get("routingKey")}
	if c.main, err = c.openChannel(); err != nil {
		c.Close()
		return nil, connectRefusal(err)
	}
	return c, nil
}

// connectRefusal is the error of a connection that was not opened.
func connectRefusal(err error) error {
	reason, ok := errors.AsType[*amqp.Error](err)
	if !ok {
		return err
	}
	switch {
	case errors.Is(err, amqp.ErrSASL):
		return &broker.Failure{Class: broker.ClassAuth, Detail: "the broker does not accept a user name and a password"}
	case errors.Is(err, amqp.ErrCredentials), reason.Server && reason.Code == amqp.AccessRefused:
		// Without a word, the broker closed the connection after it had read the credentials.
		return &broker.Failure{Class: broker.ClassAuth, Detail: "the broker refused the credentials"}
	case !reason.Server: // the connection was lost
		return err
	case reason.Code == amqp.NotAllowed:
		return &broker.Failure{Class: broker.ClassAuth, Detail: "the broker refused access to the virtual host: " + broker.Quote(reason.Reason)}
	}
	return &broker.Failure{Class: broker.ClassRefused, Detail: fmt.Sprintf("the broker returned error %d: %s", reason.Code, broker.Quote(reason.Reason))}
}
