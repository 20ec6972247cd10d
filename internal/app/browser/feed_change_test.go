package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/feedmill/feedmill/client"
)

// fill gives a field a value as a user does.
func (b *tab) fill(selector, value string) {
	b.t.Helper()
	b.do(chromedp.Evaluate[chromedp.Void](`{const f = document.querySelector(` + quote(selector) + `); f.value = ` + quote(value) + `;
		f.dispatchEvent(new Event('input', {bubbles: true})); f.dispatchEvent(new Event('change', {bubbles: true}));} undefined`))
}

// TestChangeColumns renames, moves, hides and retypes columns, with the values that do not fit.
func TestChangeColumns(t *testing.T) {
	c, key := workspace(t)
	f := upload(t, c, "Parcels", "parcels.csv", "id,weight,note\n1,1.5,a\n2,later,b\n3,2.25,c\n4,later,d\n5,unknown,e\n")
	upload(t, c, "Other", "other.csv", "id,weight\n1,x\n")
	b := signedIn(t, key)
	b.visit("/ui/feeds/" + f.ID + "/columns")
	b.wait(`document.querySelector('[value=save]')?.disabled`)
	b.fill(`[name="type.c2"]`, "decimal")
	b.wait(`document.querySelector('[data-trial=c2]').innerText.includes('3 values cannot be decimal')`)
	b.wait(`[...document.querySelectorAll('[data-trial=c2] .sample tbody tr')].map((r) => r.innerText.replace(/\s+/g, ' ').trim()).join() === 'later 2 2,unknown 1 5'`)
	b.fill(`[name="name.c3"]`, "remark")
	b.sees("2 unsaved changes")
	b.accessible("feed-columns")
	// By keys alone: the last column is moved up.
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector('[data-column=c3] .handle').focus(); undefined`), chromedp.KeyEvent(kb.ArrowUp, chromedp.KeyModifiers(chromedp.ModifierAlt)))
	b.wait(`[...document.querySelectorAll('[name=column]')].map((f) => f.value).join() === 'c1,c3,c2' && document.querySelector('#announced').textContent === 'Position 2 of 3'`)
	b.do(chromedp.Click("[name='hidden.c1']"), chromedp.Click("[value=reject]"), chromedp.Click("[value=save]"))
	b.sees("Saved")
	got, err := c.DataFeed(t.Context(), f.ID)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, column := range got.Columns {
		names = append(names, fmt.Sprint(column.Name, " ", column.Type, " ", column.Hidden))
	}
	if text := strings.Join(names, ", "); got.RowCount != 2 || text != "id integer true, remark text false, weight decimal false" {
		t.Errorf("%d rows, %s", got.RowCount, text)
	}
	// A name that is taken is refused beside its field, and nothing is lost.
	b.expected = []string{"422"}
	b.fill(`[name="name.c3"]`, "weight")
	b.do(chromedp.Click("[value=save]"))
	b.wait(`document.querySelector('[data-column=c3] .message')?.innerText.includes('weight') && document.querySelector('[name="name.c3"]').value === 'weight'`)
}

// TestChangeChecks sets what is expected of a feed, and shows what came of it.
func TestChangeChecks(t *testing.T) {
	c, key := workspace(t)
	f := upload(t, c, "Parcels", "parcels.csv", "id,weight\n1,1.5\n2,\n")
	b := signedIn(t, key)
	b.visit("/ui/feeds/" + f.ID + "/checks")
	b.fill("#minRows", "2")
	b.fill("#unique", "id")
	b.do(chromedp.Click("[value=save]"))
	b.sees("Saved")
	b.sees("no duplicates in id")
	if _, err := c.ReplaceData(t.Context(), f.ID, client.Upload{Data: strings.NewReader("id,weight\n1,1\n1,2\n"), Format: "csv"}); err == nil {
		t.Error("duplicates were accepted")
	}
	b.visit("/ui/feeds/" + f.ID + "/checks")
	b.sees("1 value of id in several rows")
	b.accessible("feed-checks")
	b.expected = []string{"422"}
	b.fill("#maxDrop", "200")
	b.do(chromedp.Click("[value=save]"))
	b.sees("Enter a percentage between 0 and 100.")
	b.wait(`document.querySelector('#maxDrop').value === '200' && document.activeElement.id === 'maxDrop'`)
	b.fill("#maxDrop", "")
	b.fill("#unique", "nothing")
	b.do(chromedp.Click("[value=save]"))
	b.sees(`The feed has no column "nothing".`)
}

// TestChangeSource fixes a credential that was refused, and changes a definition after a try.
func TestChangeSource(t *testing.T) {
	c, key := workspace(t)
	valid := "first"
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+valid {
			http.Error(w, `{"error":"expired"}`, http.StatusUnauthorized)
			return
		}
		fmt.Fprint(w, `{"data":[{"id":1,"zip":"01067"},{"id":2,"zip":"98104"}],"more":[{"id":1,"zip":"1","extra":true}]}`)
	}))
	defer source.Close()
	f, err := c.CreateRestFeed(t.Context(), client.RestFeed{Wait: patience, Spec: []byte(`{"name":"Orders","request":{"url":"` + source.URL + `"},"auth":{"kind":"bearer","token":"first"},"response":{"path":"$.data[*]"},"mode":"merge","key":["id"]}`)})
	if err != nil || f.Version != 1 {
		t.Fatal(f, err)
	}
	b := signedIn(t, key)
	b.visit("/ui/feeds/" + f.ID + "/source")
	b.wait(`document.querySelector('#token')?.value === '***' && document.querySelector('#token').readOnly`)
	b.do(chromedp.Click("[value=try]"))
	b.sees("Compared with version 1: 0 rows added, 0 updated, 0 deleted; same columns and types.")
	b.fill("#path", "$.more[*]")
	b.do(chromedp.Click("[value=try]"))
	b.sees("new columns: extra")
	b.accessible("feed-source")
	b.do(chromedp.Click("[value=save]"))
	b.sees("Saved")
	if got := run(b, chromedp.Evaluate[string](`document.querySelector('#path').value + document.querySelector('#token').value`)); got != "$.more[*]***" {
		t.Errorf("the form has %q", got)
	}
	valid = "second"
	if _, err := c.RefreshDataFeed(t.Context(), f.ID); err != nil {
		t.Fatal(err)
	}
	b.visit("/ui/feeds/" + f.ID)
	b.waitReloading(`document.querySelector('.note .end')?.innerText === 'Update credential'`)
	b.accessible("feed-auth-required")
	b.do(chromedp.Click(".note .end"))
	b.wait(`document.activeElement?.id === 'token' && document.activeElement.value === ''`)
	b.do(chromedp.SendKeys("#token", "second"), chromedp.Click("[value=save]"))
	b.waitReloading(`document.querySelector('.head .badge')?.innerText.includes('Ready')`)
}

// TestRowDrawer reads one row with all its columns.
func TestRowDrawer(t *testing.T) {
	c, key := workspace(t)
	long := strings.Repeat("long text ", 200)
	f := upload(t, c, "Orders", "orders.json", `[{"id":1,"note":"`+long+`","items":[{"sku":"A","price":1.10}],"secret":"s1"},{"id":2,"note":null,"items":[],"secret":"s2"}]`)
	for _, column := range f.Columns {
		if column.Name == "secret" {
			if _, err := c.ChangeColumns(t.Context(), f.ID, []client.ColumnChange{{ID: column.ID, Hidden: client.To(true)}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	b := signedIn(t, key)
	b.visit("/ui/feeds/" + f.ID)
	b.wait(`document.querySelector('.grid td bdi')`)
	b.do(chromedp.Click(".grid tbody .nr"))
	b.wait(`document.querySelector('.drawer h2')?.innerText === 'Row 1' && document.querySelector('.drawer').innerText.includes('"sku": "A"')`)
	b.wait(`new URLSearchParams(location.search).get('row') === '1'`)
	if got := run(b, chromedp.Evaluate[string](`document.querySelector('.clamped').textContent`)); got != long && got != strings.TrimSpace(long) {
		t.Errorf("the cell has %d characters", len(got))
	}
	b.accessible("feed-row")
	b.press("j")
	b.wait(`document.querySelector('.drawer h2').innerText === 'Row 2' && document.querySelector('.row-field i')?.innerText === 'null'`)
	b.do(chromedp.Click(".drawer-foot button"))
	b.wait(`document.querySelector('.drawer').innerText.includes('s2')`)
	b.press(kb.Escape)
	b.wait(`document.querySelector('.drawer').hidden && document.activeElement.matches('.grid-box')`)
	b.visit("/ui/feeds/" + f.ID + "?row=2")
	b.wait(`document.querySelector('.drawer h2')?.innerText === 'Row 2'`)
}
