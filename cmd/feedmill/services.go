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
	parent := &cobra.Command{Use: "services", Short: "List services and test manifests"}
	parent.AddCommand(newServicesList(), newServicesViews(), newServicesFields(), newServicesValues(), newServicesValidate(), newServicesTry())
	return parent
}

func newServicesValidate() *cobra.Command {
	cmd := &cobra.Command{
		Use: "validate FILE", Short: "Check a manifest and list all errors with their lines", Args: oneArg("specify a file"),
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
	return nil, fmt.Errorf("the manifest is not valid:\n%s", strings.Join(lines, "\n"))
}

func newServicesTry() *cobra.Command {
	cmd := &cobra.Command{
		Use: "try FILE VIEW", Short: "Fetch the first rows of a view; show requests and rows",
		Args: needArgs("specify a file and a view", 2),
	}
	settings := cmd.Flags().StringArray("config", nil, "connection setting as NAME=VALUE, or NAME=@FILE to read it from a file")
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
			return nil, usagef("%s requires the setting %s; pass --config %s=…", m.Service, s.Name, s.Name)
		}
	}
	return config, nil
}
