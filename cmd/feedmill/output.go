package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill/client"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// outputFormat is how a command prints what the service sent.
type outputFormat string

const (
	formatTable outputFormat = "table"
	formatJSON  outputFormat = "json"
	formatYAML  outputFormat = "yaml"
	formatCSV   outputFormat = "csv"
	formatIDs   outputFormat = "ids"
)

var outputFormats = []string{string(formatTable), string(formatJSON), string(formatYAML), string(formatCSV), string(formatIDs)}

func (f *outputFormat) String() string { return string(*f) }
func (f *outputFormat) Type() string   { return "format" }

func (f *outputFormat) Set(text string) error {
	if !slices.Contains(outputFormats, text) {
		return errors.New("must be " + strings.Join(outputFormats[:len(outputFormats)-1], ", ") + " or " + outputFormats[len(outputFormats)-1])
	}
	*f = outputFormat(text)
	return nil
}

// outputFlag gives a command the flag --output, in addition to --json.
func outputFlag(cmd *cobra.Command) {
	format := formatTable
	cmd.Flags().VarP(&format, "output", "o", "output format: "+strings.Join(outputFormats, ", "))
	completeFlag(cmd, "output", completeOf(outputFormats...))
	cmd.MarkFlagsMutuallyExclusive("output", "json")
}

// wantedFormat is the format of --output or --json.
func wantedFormat(cmd *cobra.Command) outputFormat {
	if asJSON, err := cmd.Flags().GetBool("json"); err == nil && asJSON {
		return formatJSON
	}
	if flag := cmd.Flags().Lookup("output"); flag != nil {
		if format, ok := flag.Value.(*outputFormat); ok {
			return *format
		}
	}
	return formatTable
}

// machine prints what the service sent, in the format for machines that was asked for.
// Numbers keep all of their digits.
func (p *printer) machine(sent any) error {
	if p.format == formatJSON {
		return printJSON(p.out, sent)
	}
	v := strictjson.Value{Kind: '['}
	var err error
	switch sent := sent.(type) {
	case []json.RawMessage: // each of them is within the limits of a response
		v.Items = make([]strictjson.Value, len(sent))
		for i, record := range sent {
			if v.Items[i], err = readSent(record); err != nil {
				return err
			}
		}
	case json.RawMessage:
		v, err = readSent(sent)
	}
	if err != nil {
		return err
	}
	switch p.format {
	case formatYAML:
		_, err = p.out.Write(v.AppendYAML(nil))
		return err
	case formatCSV:
		return p.csv(recordsOf(v))
	}
	return p.ids(recordsOf(v))
}

func readSent(text json.RawMessage) (v strictjson.Value, err error) {
	v, ok := strictjson.Read(text, strictjson.Part{}, func(string, string) bool { return true })
	if !ok {
		err = errors.New("the response cannot be converted; use --output json")
	}
	return v, err
}

// rowFormat is the format in which rows are requested from the service.
func (p *printer) rowFormat() string {
	if p.json && p.format != formatCSV {
		return "json"
	}
	return "csv"
}

// sentRows prints rows that were requested in rowFormat; table prints them for people.
func (p *printer) sentRows(rows *client.Rows, table func(*printer, *client.Rows) error) error {
	switch {
	case p.format == formatCSV:
		return copyOut(p.out, rows)
	case p.json:
		return p.show(nil)
	}
	return table(p, rows)
}

// recordsOf are the elements of a list, or a single record.
func recordsOf(v strictjson.Value) []strictjson.Value {
	if v.Kind == '[' {
		return v.Items
	}
	return []strictjson.Value{v}
}

// ids prints the id of each record on a line.
func (p *printer) ids(records []strictjson.Value) error {
	for _, r := range records {
		id := r.Member("id")
		if r.Kind != '{' || id == nil || id.Kind != '"' {
			return usagef("the output of this command has no ids; use another format for --output")
		}
		if err := p.printf("%s\n", id.Text()); err != nil {
			return err
		}
	}
	return nil
}

// csv prints a row for each record and a column for each member that any of them has. A
// member that is an object or array is JSON.
func (p *printer) csv(records []strictjson.Value) error {
	var header []string
	for _, r := range records {
		if r.Kind != '{' {
			return usagef("the output of this command has no records; use --output json")
		}
		for _, m := range r.Members {
			if !slices.Contains(header, m.Name) {
				header = append(header, m.Name)
			}
		}
	}
	var b bytes.Buffer
	out := csv.NewWriter(&b)
	out.Write(header) // a buffer takes everything
	for _, r := range records {
		row := make([]string, len(header))
		for i, name := range header {
			switch m := r.Member(name); {
			case m == nil || m.Kind == 'n':
			case m.Kind == '"':
				row[i] = m.Text()
			default:
				row[i] = string(m.Append(nil))
			}
		}
		out.Write(row)
	}
	out.Flush()
	return copyOut(p.out, &b)
}
