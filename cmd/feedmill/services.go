package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill/client"
	"github.com/feedmill/feedmill/internal/source/manifest"
)

func newServices() *cobra.Command {
	parent := &cobra.Command{Use: "services", Short: "See what queries run on, and make services of HTTP APIs with manifests"}
	parent.AddCommand(newServicesList(), newServicesViews(), newServicesFields(), newServicesValidate(), newServicesTry())
	return parent
}

func newServicesValidate() *cobra.Command {
	cmd := &cobra.Command{
		Use: "validate FILE", Short: "Check a manifest, and list everything that is wrong with its lines", Args: oneArg("say which file"),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		m, err := readManifest(args[0])
		if err != nil {
			return err
		}
		fields := 0
		for _, v := range m.Views {
			fields += len(v.Fields)
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: the service %s with %d views and %d fields\n", args[0], m.Service, len(m.Views), fields)
		return err
	}
	return cmd
}

// readManifest reads a manifest, or says everything that is wrong with it.
func readManifest(name string) (*manifest.Manifest, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	m, faults := manifest.Parse(data)
	if len(faults) == 0 {
		return m, nil
	}
	lines := make([]string, len(faults))
	for i, f := range faults {
		lines[i] = name + ":" + f.String()
	}
	return nil, fmt.Errorf("the manifest cannot be used:\n%s", strings.Join(lines, "\n"))
}

func newServicesTry() *cobra.Command {
	cmd := &cobra.Command{
		Use: "try FILE VIEW", Short: "Fetch the first rows of a view from its API: every request, the rows, and nothing kept",
		Args: needArgs("say which file and which view of it", 2),
	}
	settings := cmd.Flags().StringArray("config", nil, "a setting of the connection, as NAME=VALUE, or NAME=@FILE for what a file holds")
	return onServer(cmd, func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		m, err := readManifest(args[0])
		if err != nil {
			return err
		}
		v, ok := m.View(args[1])
		if !ok {
			var names []string
			for _, v := range m.Views {
				names = append(names, v.Name)
			}
			return usagef("%s has no view %s; it has %s", args[0], args[1], strings.Join(names, ", "))
		}
		config, err := readSettings(m, *settings)
		if err != nil {
			return err
		}
		definition, err := m.Definition(v, config, v.All(), nil)
		if err != nil {
			return err
		}
		return p.tryRest(ctx, c, definition)
	})
}

// readSettings reads the settings of a connection, and says which are missing.
func readSettings(m *manifest.Manifest, given []string) (map[string]string, error) {
	config, err := namedValues("--config", given)
	if err != nil {
		return nil, err
	}
	for _, s := range m.Settings {
		if _, ok := config[s.Name]; !ok && s.Required {
			return nil, usagef("%s needs the setting %s; give it with --config %s=…", m.Service, s.Name, s.Name)
		}
	}
	return config, nil
}
