package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
	"github.com/feedmill/feedmill/internal/strictjson"
)

func newExport() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Export the configuration of a workspace as YAML",
		Long: `Prints the connections, SQL views, feeds and subscriptions of the workspace as documents for
"feedmill apply". With --output, it writes a file for each kind into a folder. Secrets are
{keep: true}, which keeps the stored ones. The data of uploads is not exported.`,
		Args: cobra.NoArgs,
	}
	folder := cmd.Flags().StringP("output", "o", "", "folder to write connections.yaml, sqlviews.yaml, feeds.yaml and subscriptions.yaml to")
	return onServerText(cmd, func(ctx context.Context, c *client.Client, _ []string, p *printer) error {
		var whole bytes.Buffer
		for _, kind := range feedmill.DefinitionKinds {
			text, err := exportKind(ctx, c, kind)
			if err != nil {
				return err
			}
			if *folder == "" {
				whole.Write(text)
				continue
			}
			if err := os.MkdirAll(*folder, 0o755); err != nil {
				return err
			}
			if err := writeWhole(filepath.Join(*folder, strings.ToLower(string(kind))+"s.yaml"), bytes.NewReader(text)); err != nil {
				return err
			}
		}
		_, err := p.out.Write(whole.Bytes())
		return err
	})
}

// exportKind returns the documents of a kind, sorted by their names.
func exportKind(ctx context.Context, c *client.Client, kind feedmill.DefinitionKind) ([]byte, error) {
	var all []client.Definition
	for d, err := range paged(c, 0).Definitions(ctx, kind) {
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	slices.SortFunc(all, func(a, b client.Definition) int { return cmp.Compare(a.Name, b.Name) })
	var text []byte
	for _, d := range all {
		v, err := exportDocument(d)
		if err != nil {
			return nil, err
		}
		text = v.AppendYAML(append(text, "---\n"...))
	}
	return text, nil
}

// exportDocument returns the document of an object.
func exportDocument(d client.Definition) (strictjson.Value, error) {
	definition, ok := strictjson.Read(d.Definition, strictjson.Part{}, func(string, string) bool { return true })
	if !ok {
		return definition, fmt.Errorf("the definition of %s cannot be read", d.ID)
	}
	normalize(d.Kind, &definition)
	keepSecrets(&definition)
	v := strictjson.Value{Kind: '{'}
	v.Set("kind", strictjson.String(string(d.Kind)))
	v.Set("name", strictjson.String(d.Name))
	v.Set("id", strictjson.String(d.ID))
	if d.Label != d.Name && d.Kind != feedmill.DefinedConnection {
		v.Set("label", strictjson.String(d.Label))
	}
	for _, m := range definition.Members {
		v.Set(m.Name, m.Value)
	}
	return v, nil
}

// keepSecrets writes {keep: true} for every secret.
func keepSecrets(v *strictjson.Value) {
	if textOf(v) == feedmill.Hidden {
		*v = strictjson.Value{Kind: '{', Members: []strictjson.Member{{Name: "keep", Value: strictjson.Value{Kind: 't', Raw: []byte("true")}}}}
		return
	}
	for i := range v.Members {
		keepSecrets(&v.Members[i].Value)
	}
	for i := range v.Items {
		keepSecrets(&v.Items[i])
	}
}
