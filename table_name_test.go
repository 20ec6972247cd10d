package feedmill

import (
	"strings"
	"testing"
)

func TestDefaultTableName(t *testing.T) {
	for name, want := range map[string]string{
		"Orders": "orders", "Order Items": "order_items", "OrderItems": "order_items", "orders-2024.csv": "orders_2024_csv",
		"HTTPStatus": "http_status", "  a  b ": "a_b", "2024 sales": "_2024_sales", "Umsätze": "umsätze", "***": "", "_x": "x", "a1B": "a1_b",
		strings.Repeat("x", 200): strings.Repeat("x", 128), "注文": "注文",
	} {
		if got := DefaultTableName(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}

func TestFreeTableName(t *testing.T) {
	long := strings.Repeat("x", MaxTableName)
	for _, test := range []struct {
		base  string
		taken []string
		want  string
	}{
		{"orders", nil, "orders"},
		{"orders", []string{"orders"}, "orders_2"},
		{"orders", []string{"orders_2"}, "orders"},
		{"orders", []string{"orders", "orders_2"}, "orders_3"},
		{"", []string{"orders"}, "df_1"},
		{long, []string{long}, long[:126] + "_2"},
	} {
		if got := FreeTableName(test.base, "df_1", test.taken); got != test.want {
			t.Errorf("%q without %q is %q, want %q", test.base, test.taken, got, test.want)
		}
	}
}
