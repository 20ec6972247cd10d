package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// errChanges is the outcome of a plan with changes. The plan is printed.
var errChanges = errors.New("the configuration differs")

func newApply() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "apply -f PATH",
		Short: "Apply configuration files to a server",
		Long: `Creates and changes connections, SQL views, feeds and subscriptions so that they match YAML
files. A document has a kind (Connection, SQLView, Feed or Subscription), a name that identifies
the object in the files, and the members of the API's definition. A member that the document does not
have gets its default.

Write secrets as references: {env: NAME}, {file: path}, or {keep: true} for the stored one.
The plan shows what changes, never a secret. With --plan nothing is changed, and the exit code
is 0 without changes, 2 with changes and 1 after an error.

--set records which files manage an object. --prune deletes the objects of that set that are
not in the files any more. An interrupted apply can be repeated.`,
		Args: cobra.NoArgs,
	}
	var o applyOptions
	o.add(cmd)
	cmd.Flags().BoolVar(&o.planOnly, "plan", false, "only show what would change")
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "delete objects without asking for confirmation")
	cmd.Flags().StringVar(&o.secretsOut, "secrets-out", "", "file for the signing secrets of new subscriptions (mode 0600)")
	return onServerText(cmd, func(ctx context.Context, c *client.Client, _ []string, p *printer) error {
		return o.run(ctx, cmd, c, p)
	})
}

func newDiff() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "diff -f PATH",
		Short: "Compare configuration files with a server",
		Long: `Shows what "feedmill apply" would change. The exit code is 0 without differences, 2 with
differences and 1 after an error.`,
		Args: cobra.NoArgs,
	}
	o := applyOptions{planOnly: true}
	o.add(cmd)
	return onServerText(cmd, func(ctx context.Context, c *client.Client, _ []string, p *printer) error {
		return o.run(ctx, cmd, c, p)
	})
}

// onServerText is onServer for a command whose output has one format.
func onServerText(cmd *cobra.Command, do work) *cobra.Command {
	at := serverFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := dial(*at, cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		return do(cmd.Context(), c, args, newPrinter(cmd, c))
	}
	return cmd
}

type applyOptions struct {
	paths                []string
	set                  string
	planOnly, prune, yes bool
	secretsOut           string
}

func (o *applyOptions) add(cmd *cobra.Command) {
	cmd.Flags().StringArrayVarP(&o.paths, "file", "f", nil, "YAML file, or folder of YAML files (repeatable)")
	cmd.Flags().StringVar(&o.set, "set", "", "name of the set of files that manages the objects")
	cmd.Flags().BoolVar(&o.prune, "prune", false, "delete objects of the set that are not in the files; requires --set")
}

func (o *applyOptions) check() error {
	switch {
	case len(o.paths) == 0:
		return usagef("specify files with -f")
	case o.set != "" && feedmill.WrongHandle(o.set) != "":
		return usagef("--set %s", feedmill.WrongHandle(o.set))
	case o.prune && o.set == "":
		return usagef("--prune requires --set, and deletes only objects of that set")
	}
	return nil
}

func (o *applyOptions) run(ctx context.Context, cmd *cobra.Command, c *client.Client, p *printer) error {
	if err := o.check(); err != nil {
		return err
	}
	documents, err := readDocuments(o.paths)
	if err != nil {
		return err
	}
	if !o.planOnly {
		release, err := reserve(ctx, c, p.notes)
		if err != nil {
			return err
		}
		defer release()
	}
	planned, err := (&planner{client: c, set: o.set, prune: o.prune}).plan(ctx, documents)
	if err != nil {
		return err
	}
	if err := p.plan(planned); err != nil || !planned.changes() {
		return err
	}
	if o.planOnly {
		return errChanges
	}
	if n := planned.count(remove); n > 0 && !o.yes {
		if err := confirm(ctx, cmd, fmt.Sprintf("This deletes %d objects.", n)); err != nil {
			return err
		}
	}
	secrets, err := openSecretsFile(o.secretsOut)
	if err != nil {
		return err
	}
	a := applier{client: c, secrets: secrets}
	for _, s := range planned.steps {
		if err := a.do(ctx, s); err != nil {
			return errors.Join(err, secrets.close())
		}
	}
	if secrets.lost > 0 {
		fmt.Fprintf(p.notes, "feedmill: %d signing secrets were not saved because --secrets-out is not set; rotate them to get new ones\n", secrets.lost)
	}
	if err := secrets.close(); err != nil {
		return err
	}
	return p.printf("Applied: %d created, %d changed, %d deleted.\n", planned.count(create), planned.count(change), planned.count(remove))
}

// plan prints what an apply does.
func (p *printer) plan(planned *plan) error {
	for _, warning := range planned.warnings {
		fmt.Fprintln(p.notes, "feedmill: warning:", plain(warning))
	}
	tones := map[action]tone{create: good, change: waiting, remove: bad}
	for _, s := range planned.steps {
		if s.action == leave {
			continue
		}
		line := fmt.Sprintf("%c %s %s", s.action, s.stored.Kind, s.stored.Name)
		if s.doc != nil {
			line = fmt.Sprintf("%c %s (%s)", s.action, s.doc, s.doc.where())
		}
		p.printf("%s\n", p.coloured(cell{text: line, tone: tones[s.action]}))
		for _, detail := range s.details {
			p.printf("    %s\n", plain(detail))
		}
	}
	return p.printf("Plan: %d to create, %d to change, %d to delete, %d unchanged.\n",
		planned.count(create), planned.count(change), planned.count(remove), planned.count(leave))
}

// reserve waits until no other apply changes the workspace, and keeps it reserved until it is
// released.
func reserve(ctx context.Context, c *client.Client, notes io.Writer) (release func(), err error) {
	holder := rand.Text()
	for told := false; ; {
		_, err := c.BeginApply(ctx, holder)
		if err == nil {
			break
		}
		if problem, ok := errors.AsType[*client.Problem](err); !ok || problem.Status != http.StatusConflict {
			return nil, err
		}
		if !told {
			fmt.Fprintln(notes, "feedmill: waiting for another apply in this workspace")
			told = true
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(time.Second):
		}
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(feedmill.ApplyLease / 3)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				c.BeginApply(ctx, holder) // the next one is in time, too
			}
		}
	}()
	return func() {
		close(done)
		<-ended
		c.EndApply(context.WithoutCancel(ctx), holder) // else it expires
	}, nil
}

// secretsFile takes the signing secrets of new subscriptions, each as soon as it is known.
type secretsFile struct {
	file *os.File
	// lost counts the secrets that there was no file for.
	lost int
}

func openSecretsFile(path string) (*secretsFile, error) {
	if path == "" {
		return &secretsFile{}, nil
	}
	f, err := os.OpenFile(filepath.Clean(path), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("--secrets-out: %w", err)
	}
	return &secretsFile{file: f}, errors.Join(f.Chmod(0o600))
}

func (s *secretsFile) add(name, secret string) error {
	if s.file == nil {
		s.lost++
		return nil
	}
	line := strictjson.Value{Kind: '{', Members: []strictjson.Member{{Name: name, Value: strictjson.String(secret)}}}
	if _, err := s.file.Write(line.AppendYAML(nil)); err != nil {
		return fmt.Errorf("--secrets-out: %w", err)
	}
	return s.file.Sync()
}

func (s *secretsFile) close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}
