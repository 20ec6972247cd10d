package app

import (
	"bytes"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

const urlencoded = "application/x-www-form-urlencoded"

// uploadForm is the form of the upload page: fields, then a file.
func uploadForm(t *testing.T, name, file string) (contentType, body string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	if err := w.WriteField("name", name); err != nil {
		t.Fatal(err)
	}
	part, err := w.CreateFormFile("file", "rows.csv")
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(part, file)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return w.FormDataContentType(), b.String()
}

// session signs in and returns the cookie.
func (s *service) session(t *testing.T, key string) string {
	t.Helper()
	got := s.send(t, request{method: "POST", path: "/ui/sign-in", key: "-", body: url.Values{"key": {key}}.Encode(), header: [][2]string{{"Content-Type", urlencoded}}})
	cookie, _, _ := strings.Cut(got.header.Get("Set-Cookie"), ";")
	if got.status != http.StatusSeeOther || cookie == "" {
		t.Fatalf("signing in returns %d %.300s", got.status, got.body)
	}
	return cookie
}

// TestFormsAreBounded sends forms of the wrong type and size, before and after signing in.
func TestFormsAreBounded(t *testing.T) {
	t.Parallel()
	s := start(t, setup{env: []string{"FEEDMILL_MAX_UPLOAD_BYTES=200000"}})
	cookies := []string{s.session(t, adminKey), s.session(t, s.newKey(t, "", "api:read", "api:write").Key)}
	upload, small := uploadForm(t, "Rows", "a,b\n1,2\n")
	_, named := uploadForm(t, strings.Repeat("n", 70<<10), "a,b\n1,2\n")
	_, large := uploadForm(t, "Rows", "a,b\n"+strings.Repeat("1,2\n", 60_000))
	typeOf := func(body string) string {
		first, _, _ := strings.Cut(body, "\r\n")
		return "multipart/form-data; boundary=" + strings.TrimPrefix(first, "--")
	}
	for _, c := range []struct {
		name, path, contentType, body string
		signedIn                      bool
		status                        int
	}{
		{"sign-in of 16 KiB", "/ui/sign-in", urlencoded, "key=" + strings.Repeat("x", 16<<10-4), false, 422},
		{"sign-in of more", "/ui/sign-in", urlencoded, "key=" + strings.Repeat("x", 16<<10-3), false, 413},
		{"sign-in of many fields", "/ui/sign-in", urlencoded, strings.Repeat("&", 64), false, 413},
		{"sign-in as multipart", "/ui/sign-in", upload, small, false, 415},
		{"theme of more", "/ui/theme", urlencoded, "theme=" + strings.Repeat("x", 16<<10), false, 413},
		{"theme as multipart", "/ui/theme", upload, small, false, 415},
		{"a form of a stranger", "/ui/keys", urlencoded, "name=" + strings.Repeat("x", 2<<20), false, 303},
		{"an upload of a stranger", "/ui/feeds/new/upload", upload, small, false, 303},
		{"no such page", "/ui/nothing", urlencoded, "name=" + strings.Repeat("x", 2<<20), false, 404},
		{"a form of more than 1 MiB", "/ui/feeds/new/rest", urlencoded, "yaml=" + strings.Repeat("x", 1<<20), true, 413},
		{"a form of many fields", "/ui/feeds/new/rest", urlencoded, strings.Repeat("&", 32_768), true, 413},
		{"a form as multipart", "/ui/feeds/new/rest", upload, small, true, 415},
		{"a large form", "/ui/feeds/new/rest", urlencoded, "from=yaml&yaml=" + strings.Repeat("x", 1<<20-15), true, 422},
		{"an upload", "/ui/feeds/new/upload", upload, small, true, 303},
		{"an upload as another form", "/ui/feeds/new/upload", urlencoded, "name=x", true, 422},
		{"an upload with large fields", "/ui/feeds/new/upload", typeOf(named), named, true, 422},
		{"an upload that is too large", "/ui/feeds/new/upload", typeOf(large), large, true, 422},
	} {
		for _, chunked := range []bool{false, true} {
			for _, cookie := range cookies {
				q := request{method: "POST", path: c.path, key: "-", body: c.body, chunked: chunked, header: [][2]string{{"Content-Type", c.contentType}}}
				if c.signedIn {
					q.header = append(q.header, [2]string{"Cookie", cookie})
				}
				got, err := s.try(q)
				if err != nil && len(c.body) > 1<<20 { // what is refused is not read to its end
					continue
				}
				if err != nil || got.status != c.status {
					t.Errorf("%s, chunked %v: %d %.300s, %v; want %d", c.name, chunked, got.status, got.body, err, c.status)
				}
			}
		}
	}
	if got := s.send(t, request{method: "POST", path: "/sessions", key: "-", body: `{"key":"` + strings.Repeat("x", 16<<10) + `"}`}); got.status != 413 {
		t.Errorf("POST /sessions of more than 16 KiB: %d %s", got.status, got.body)
	}
}

// TestFormUploadsMeetTheFloor holds that the upload form is refused as the API's upload is.
func TestFormUploadsMeetTheFloor(t *testing.T) {
	t.Parallel()
	s := start(t, setup{env: []string{"FEEDMILL_MIN_FREE_DISK=1000000TB"}})
	contentType, body := uploadForm(t, "Rows", "a,b\n1,2\n")
	got := s.send(t, request{method: "POST", path: "/ui/feeds/new/upload", key: "-", body: body, header: [][2]string{{"Content-Type", contentType}, {"Cookie", s.session(t, adminKey)}}})
	if got.status != http.StatusInsufficientStorage {
		t.Errorf("an upload on a full disk returns %d %.300s", got.status, got.body)
	}
}

// TestRefusedBodiesAreClosed refuses requests whose bodies never come. Each connection ends
// within 2 s, held here to ten times that.
func TestRefusedBodiesAreClosed(t *testing.T) {
	s := start(t, setup{})
	key := s.newKey(t, "", "api:read").Key
	var all sync.WaitGroup
	for _, head := range []string{
		"POST /data_feeds?type=dataUpload HTTP/1.1\r\nAuthorization: Bearer nobody\r\n",
		"POST /data_feeds?type=dataUpload HTTP/1.1\r\nAuthorization: Bearer " + key + "\r\n",
		"POST /sessions?unknown=1 HTTP/1.1\r\nContent-Type: text/csv\r\n",
		"POST /nothing HTTP/1.1\r\n",
		"PUT /keys HTTP/1.1\r\n",
		"POST /ui/keys HTTP/1.1\r\n",
		"POST /ui/nothing HTTP/1.1\r\n",
		"POST /ui/sign-in HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=x\r\n",
		"POST /ui/sign-in HTTP/1.1\r\nSec-Fetch-Site: cross-site\r\n",
		"PUT /ui/sign-in HTTP/1.1\r\n",
		"GET /docs HTTP/1.1\r\n",
	} {
		for _, length := range []string{"Content-Length: 1000", "Content-Length: 1000000000", "Transfer-Encoding: chunked"} {
			all.Go(func() {
				conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
				if err != nil {
					t.Error(err)
					return
				}
				defer conn.Close()
				conn.SetDeadline(time.Now().Add(20 * time.Second))
				io.WriteString(conn, head+"Host: f\r\n"+length+"\r\n\r\n")
				if answer, err := io.ReadAll(conn); err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 ") {
					t.Errorf("%s%s: %.100q, %v", head, length, answer, err)
				}
			})
		}
	}
	all.Wait()
}
