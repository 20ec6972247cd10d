package json_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/json"
)

func ExampleOpen() {
	ctx := context.Background()
	document := strings.NewReader(`{"page": 1, "orders": [
		{"id": 7, "customer": {"name": "Ada"}, "tags": ["new", "paid"]},
		{"id": 8, "customer": {"name": "Max"}, "total": 12.50}
	]}`)
	orders, err := json.Open(ctx, document, json.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = orders.Each(ctx, 1, func(cells *columnar.Cells) error {
		for row := range cells.Rows {
			texts := make([]string, cells.Columns)
			for column := range texts {
				texts[column] = string(cells.Text(cells.At(row, column)))
			}
			fmt.Printf("%q\n", texts)
		}
		return nil
	})
	fmt.Println(orders.Names(), err)
	// Output:
	// ["7" "Ada" "[\"new\",\"paid\"]"]
	// ["8" "Max" "" "12.50"]
	// [id customer.name tags total] <nil>
}
