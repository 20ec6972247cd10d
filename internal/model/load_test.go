package model

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// memoryTable is a table in memory, each of whose runs is a block.
type memoryTable struct {
	columnar.PlainColumns
	names []string
	runs  []*columnar.Cells
	// broken is a block that cannot be read, or -1.
	broken int
}

var errBroken = errors.New("the disk is broken")

func newMemoryTable(t *testing.T, text string, rows int) *memoryTable {
	t.Helper()
	names, cells := tableCells(t, text)
	return &memoryTable{names: names, runs: split(cells, rows), broken: -1}
}

func (m *memoryTable) Each(ctx context.Context, _ int, fn func(*columnar.Cells) error) error {
	return m.Read(ctx, 0, len(m.runs), fn)
}

func (*memoryTable) Found() (f feedmill.Findings) { return f }

func (m *memoryTable) Names() []string { return m.names }

func (m *memoryTable) Warnings() ([]feedmill.Warning, error) {
	return []feedmill.Warning{{Code: feedmill.WarnNoHeader}}, nil
}

func (m *memoryTable) Blocks() int { return len(m.runs) }

func (m *memoryTable) Read(ctx context.Context, from, to int, fn func(*columnar.Cells) error) error {
	for i := from; i < to; i++ {
		if i == m.broken {
			return errBroken
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := fn(m.runs[i]); err != nil {
			return err
		}
	}
	return nil
}

func TestLoadKeepsOrder(t *testing.T) {
	var text strings.Builder
	text.WriteString("n\n")
	for i := range 1000 {
		fmt.Fprintln(&text, i)
	}
	table := newMemoryTable(t, text.String(), 7)
	schema, warnings, err := Infer(t.Context(), table, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if schema.Rows != 1000 || schema.Columns[0].Type != columnar.TypeInteger || len(warnings) != 1 {
		t.Fatalf("%d rows, %v, %v", schema.Rows, schema.Columns, warnings)
	}
	next := int64(0)
	for vectors, err := range schema.Load(t.Context(), table, Loading{}).Runs {
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range vectors[0].Ints {
			if n != next {
				t.Fatalf("%d comes after %d", n, next-1)
			}
			next++
		}
	}
	if next != 1000 {
		t.Errorf("%d rows", next)
	}
	// A consumer may stop at any time.
	for range schema.Load(t.Context(), table, Loading{}).Runs {
		break
	}
}

func TestLoadEndsWithTheError(t *testing.T) {
	table := newMemoryTable(t, "n\n1\n2\n3\n4\n5\n", 1)
	schema, _, err := Infer(t.Context(), table, Options{})
	if err != nil {
		t.Fatal(err)
	}
	table.broken = 3
	rows := 0
	for vectors, err := range schema.Load(t.Context(), table, Loading{}).Runs {
		if err != nil {
			if !errors.Is(err, errBroken) || rows != 3 {
				t.Errorf("after %d rows: %v", rows, err)
			}
			return
		}
		rows += vectors[0].Len
	}
	t.Error("no error")
}

func TestLoadTellsOfMisfitsInOrder(t *testing.T) {
	table := newMemoryTable(t, "n\n1\nx\n3\ny\nz\n6\n", 2)
	for policy, want := range map[feedmill.MisfitPolicy]struct {
		rows    int
		misfits []string
	}{
		feedmill.MisfitsNull:   {6, []string{"2 x", "4 y", "5 z"}},
		feedmill.MisfitsReject: {3, []string{"2 x", "4 y", "5 z"}},
	} {
		schema, _, err := Infer(t.Context(), table, Options{})
		if err != nil {
			t.Fatal(err)
		}
		retypeTable(t, schema, table, policy)
		var misfits []string
		rows := 0
		for vectors, err := range schema.Load(t.Context(), table, Loading{
			Misfit: func(m *Misfit) { misfits = append(misfits, fmt.Sprint(m.Row, " ", m.Sample)) },
		}).Runs {
			if err != nil {
				t.Fatal(err)
			}
			rows += vectors[0].Len
		}
		if diff := cmp.Diff(want.misfits, misfits); diff != "" || rows != want.rows {
			t.Errorf("policy %q: %d rows, misfits differ (-want +got):\n%s", policy, rows, diff)
		}
	}
	schema, _, err := Infer(t.Context(), table, Options{})
	if err != nil {
		t.Fatal(err)
	}
	retypeTable(t, schema, table, feedmill.MisfitsFail)
	for _, err := range schema.Load(t.Context(), table, Loading{}).Runs {
		if misfit, ok := errors.AsType[*Misfit](err); ok != (err != nil) || ok && misfit.Row != 2 {
			t.Errorf("got %v", err)
		}
	}
}

func retypeTable(t *testing.T, schema *Schema, table Table, policy feedmill.MisfitPolicy) {
	t.Helper()
	schema.Columns[0].Retype, schema.Columns[0].OnMisfit = columnar.TypeInteger, policy
	if _, err := schema.Retype(t.Context(), table); err != nil {
		t.Fatal(err)
	}
}
