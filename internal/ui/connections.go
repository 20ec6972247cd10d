package ui

import (
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// connectionList is the databases of a workspace and the services behind them.
type connectionList struct {
	Connections []client.Connection
	Older       string
	Services    []client.Service
}

func showConnections(v *visit) (err error) {
	var l connectionList
	if l.Services, err = v.api.Services(v.r.Context()); err != nil {
		return err
	}
	l.Connections, l.Older, err = pageOf(v, listedRecords, func() iter.Seq2[client.Connection, error] { return v.api.Connections(v.r.Context()) })
	if err != nil {
		return err
	}
	return v.render(http.StatusOK, "connections", "Connections", l)
}

// connectionForm makes or changes a connection. Config has the settings as they were
// sent or are; secrets are never among those that are.
type connectionForm struct {
	ID, ServiceName, Connector string
	Config                     map[string]string
	Connectors                 []feedmill.Connector
	Faults                     map[string]string
	Warnings                   []feedmill.Warning
	Test                       *client.ConnectionTest
}

// With lists the connectors that have a setting, for the switch that shows its field.
func (f *connectionForm) With(setting string) string {
	var names []string
	for _, c := range f.Connectors {
		if slices.ContainsFunc(c.Settings, func(s feedmill.ConnectorSetting) bool { return s.Name == setting }) {
			names = append(names, c.Name)
		}
	}
	return strings.Join(names, " ")
}

// connectionSettings are the settings of a connector that the form has fields for.
func connectionSettings(connector string) (fields []feedmill.ConnectorSetting) {
	c, _ := feedmill.FindConnector(connector)
	for _, s := range c.Settings {
		if slices.Contains(connectionFields, "config/"+s.Name) {
			fields = append(fields, s)
		}
	}
	return fields
}

func (f *connectionForm) show(v *visit, status int) error {
	f.Connectors = feedmill.Connectors
	title := "New connection"
	if f.ID != "" {
		title = f.ServiceName
	}
	return v.render(status, "connection", title, f)
}

func showNewConnection(v *visit) error {
	return (&connectionForm{Connector: "postgres"}).show(v, http.StatusOK)
}

// connectionOf is the form of a connection that there is.
func connectionOf(v *visit) (*connectionForm, error) {
	c, err := v.api.Connection(v.r.Context(), v.r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	f := &connectionForm{ID: c.ID, ServiceName: c.ServiceName, Connector: c.Connector, Config: make(map[string]string), Warnings: c.Warnings}
	var config map[string]any
	_ = json.Unmarshal(c.Config, &config)
	for _, s := range connectionSettings(c.Connector) {
		if value := config[s.Name]; value != nil && !s.Secret {
			f.Config[s.Name] = fmt.Sprint(value)
		}
	}
	return f, nil
}

func showConnection(v *visit) error {
	f, err := connectionOf(v)
	if err != nil {
		return err
	}
	if v.r.URL.Query().Get("test") == "now" { // it was just saved
		test, err := v.api.TestConnection(v.r.Context(), f.ID)
		if _, ok := refused(err); err != nil && !ok {
			return err
		}
		if err == nil {
			f.Test = &test
		}
	}
	return f.show(v, http.StatusOK)
}

// readConnection reads what was sent, with the settings that belong to the connector.
func readConnection(v *visit, connector string) (*connectionForm, map[string]any) {
	f := &connectionForm{ServiceName: strings.TrimSpace(v.r.PostFormValue("serviceName")), Connector: connector, Config: make(map[string]string)}
	config := make(map[string]any)
	for _, s := range connectionSettings(connector) {
		value := v.r.PostFormValue(s.Name)
		if !s.Secret || s.PEM {
			value = strings.TrimSpace(value)
		}
		if !s.Secret {
			f.Config[s.Name] = value
		}
		if value == "" {
			continue
		}
		config[s.Name] = value
		if n, err := strconv.Atoi(value); err == nil && s.Integer {
			config[s.Name] = n
		}
	}
	return f, config
}

// connectionFields are the parts of a connection that the form has fields for.
var connectionFields = []string{
	"serviceName", "connector", "config/host", "config/port", "config/database", "config/user", "config/password", "config/sslmode", "config/tls", "config/path",
	"config/caCert", "config/clientCert", "config/clientKey",
}

func createConnection(v *visit) error {
	f, config := readConnection(v, v.r.PostFormValue("connector"))
	c, err := v.api.CreateConnection(v.r.Context(), client.NewConnection{ServiceName: f.ServiceName, Connector: f.Connector, Config: config})
	if err != nil {
		return f.refuse(v, err)
	}
	return v.redirect("/ui/connections/" + c.ID + "?did=saved&test=now")
}

func changeConnection(v *visit) error {
	old, err := connectionOf(v)
	if err != nil {
		return err
	}
	f, config := readConnection(v, old.Connector)
	f.ID = old.ID
	for _, s := range connectionSettings(old.Connector) { // what was emptied is taken away
		if _, ok := config[s.Name]; !ok && old.Config[s.Name] != "" {
			config[s.Name] = nil
		}
	}
	if removed, ok := config["clientCert"]; ok && removed == nil {
		config["clientKey"] = nil // a key is of no use without its certificate
	}
	if _, err := v.api.ChangeConnection(v.r.Context(), f.ID, client.ConnectionChange{ServiceName: f.ServiceName, Config: config}); err != nil {
		return f.refuse(v, err)
	}
	return v.redirect("/ui/connections/" + f.ID + "?did=saved&test=now")
}

func (f *connectionForm) refuse(v *visit, err error) error {
	faults, ok := faultsOf(err, connectionFields...)
	if !ok {
		return err
	}
	f.Faults = faults
	return f.show(v, http.StatusUnprocessableEntity)
}

func testConnection(v *visit) error {
	f, err := connectionOf(v)
	if err != nil {
		return err
	}
	test, err := v.api.TestConnection(v.r.Context(), f.ID)
	if err != nil {
		return err
	}
	f.Test = &test
	return f.show(v, http.StatusOK)
}

func deleteConnection(v *visit, id string) error {
	return v.api.DeleteConnection(v.r.Context(), id)
}

func toConnections(string) string { return "/ui/connections" }
