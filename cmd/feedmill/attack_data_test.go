package main

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// dataAttacks are data that is small to send, or honest, and large to hold.
var dataAttacks = []attack{
	{name: "large cells", run: func(ctx context.Context, a *attacker) {
		var all sync.WaitGroup
		for _, format := range []string{"csv", "json", "ndjson"} {
			all.Go(func() {
				s := shape{format: format, rows: longOr(4, 100), columns: 1, cell: longOr(300_000, 3_000_000), alphabet: "y", compressed: true}
				for _, path := range []string{"/data_feeds/preview?type=dataUpload", "/data_feeds?type=dataUpload"} {
					status, answer, err := request(ctx, a.Key, http.MethodPost, a.URL+path, map[string]string{"Content-Type": shapeTypes[format], "Content-Encoding": "gzip"}, s.open())
					if err != nil || status != http.StatusOK && status != http.StatusCreated && status != http.StatusTooManyRequests {
						a.t.Errorf("%v: %d %.300s, %v", s, status, answer, err)
					}
					_, after, _ := strings.Cut(answer, `"id":"df_`)
					id, _, made := strings.Cut(after, `"`)
					if !made || status != http.StatusCreated {
						continue
					}
					feed := "/data_feeds/df_" + id
					for _, path := range []string{"/data?limit=50", "/profile", "/data?format=parquet"} {
						a.discard(ctx, feed+path)
					}
					a.several(ctx, 1, http.MethodDelete, feed, nil, "", http.StatusNoContent)
				}
			})
		}
		all.Wait()
	}},
	{name: "lists of feeds with many columns", prepare: func(a *attacker) {
		var names []string
		for i := range longOr(2000, 9900) {
			names = append(names, fmt.Sprintf("%s%d", strings.Repeat("n", 100), i))
		}
		for range longOr(4, 30) {
			a.upload(a.t.Context(), "text/csv", strings.NewReader(strings.Join(names, ",")+"\n"+strings.Repeat(",", len(names)-1)+"1\n"))
		}
	}, run: func(ctx context.Context, a *attacker) {
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() { a.discard(ctx, "/data_feeds?limit=1000") })
		}
		all.Wait()
	}},
	{name: "sheets of repeated cells", run: func(ctx context.Context, a *attacker) {
		sheet := repeatedSheet(a)
		a.several(ctx, longOr(2, 8), http.MethodPost, "/data_feeds?type=dataUpload", map[string]string{"Content-Type": "application/vnd.oasis.opendocument.spreadsheet"}, sheet, http.StatusUnprocessableEntity)
	}},
	{name: "refused requests with a body that never comes", run: func(_ context.Context, a *attacker) {
		var all sync.WaitGroup
		for range longOr(40, 400) {
			all.Go(func() {
				conn := a.dial("POST /data_feeds?type=nothing HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + a.Key + "\r\nContent-Type: application/json\r\nContent-Length: 100000000\r\n\r\n")
				defer conn.Close()
				if err := conn.SetReadDeadline(time.Now().Add(leftWithin * longOr[time.Duration](10, 1))); err != nil {
					a.t.Error(err)
				}
				answer, err := io.ReadAll(conn) // the server ends the connection
				if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 4") {
					a.t.Errorf("%.200s, %v", answer, err)
				}
			})
		}
		all.Wait()
	}},
	{name: "many appends to one feed", run: func(ctx context.Context, a *attacker) {
		feed := a.upload(ctx, "text/csv", strings.NewReader("a\n1\n"))
		a.several(ctx, longOr(8, 60), http.MethodPut, "/data_feeds/"+feed+"/data?mode=append", map[string]string{"Content-Type": "text/csv"}, "a\n"+strings.Repeat("1\n", 10_000), http.StatusOK)
		a.several(ctx, 1, http.MethodDelete, "/data_feeds/"+feed, nil, "", http.StatusNoContent)
	}},
}

// discard reads an answer without keeping it. Only a fault of the server is an error.
func (a *attacker) discard(ctx context.Context, path string) {
	a.t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.URL+path, http.NoBody)
	if err != nil {
		a.t.Error(err)
		return
	}
	req.Header.Set("Authorization", "Bearer "+a.Key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		a.t.Errorf("%s: %v", path, err)
		return
	}
	defer resp.Body.Close()
	head, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		a.t.Errorf("%s: %v", path, err)
	}
	if resp.StatusCode >= 500 {
		a.t.Errorf("%s: %d %.300s", path, resp.StatusCode, head)
	}
}

// repeatedSheet is an OpenDocument sheet of less than a kilobyte with billions of cells.
func repeatedSheet(a *attacker) string {
	a.t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, file := range []struct{ name, text string }{
		{"mimetype", "application/vnd.oasis.opendocument.spreadsheet"},
		{"content.xml", `<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:spreadsheet>` +
			`<table:table table:name="One"><table:table-row table:number-rows-repeated="1048570"><table:table-cell office:value-type="float" office:value="1" table:number-columns-repeated="9000"/></table:table-row></table:table>` +
			`</office:spreadsheet></office:body></office:document-content>`},
	} {
		w, err := z.Create(file.name)
		if err == nil {
			_, err = io.WriteString(w, file.text)
		}
		if err != nil {
			a.t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		a.t.Fatal(err)
	}
	return out.String()
}
