package app

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// sold is data whose columns are of every kind that a cell can be.
const sold = `id,code,amount,share,price,day,at,paid,note
1,007,12.5,12.5%,€ 3.50,2024-02-29,2024-02-29T12:30:00Z,true,"=1+1, ""quoted"""
2,012,-0.01,0%,€ 0.10,1999-12-31,1999-12-31T23:59:59Z,false,
123456789012345,00,1234567890123.45,100.25%,"€ 1,000.05",1900-03-01,2024-01-01T00:00:01Z,true,Łódź 中
`

// TestWorkbooksForLibreOffice holds that a workbook that the service writes is what it reads back, and what
// LibreOffice makes of it is, too.
func TestWorkbooksForLibreOffice(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	original := s.upload(t, "", "text/csv", sold)
	want := s.read(t, original.ID, "")
	book := s.export(t, original.ID, "xlsx")
	const workbook = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	again := s.upload(t, "", workbook, book)
	if again.types() != original.types() || s.read(t, again.ID, "") != want || len(again.Warnings) != 0 {
		t.Errorf("it is read as %s, %v:\n%s\nwant %s:\n%s", again.types(), again.Warnings, s.read(t, again.ID, ""), original.types(), want)
	}
	if got := s.send(t, request{method: "GET", path: "/data_feeds/" + again.ID}); !strings.Contains(got.body, `"format":"percent"`) || !strings.Contains(got.body, `"format":"€"`) {
		t.Errorf("the percentages or amounts are none: %s", got.body)
	}
	soffice, err := exec.LookPath("soffice")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("soffice is not there")
		}
		t.Skip("LibreOffice is not there")
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "ours.xlsx"), []byte(book), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), soffice, "-env:UserInstallation=file://"+filepath.Join(folder, "profile"), "--headless", "--convert-to", "ods", "--outdir", folder, filepath.Join(folder, "ours.xlsx")).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	ods, err := os.ReadFile(filepath.Join(folder, "ours.ods"))
	if err != nil {
		t.Fatal(err)
	}
	opened := s.upload(t, "", "application/vnd.oasis.opendocument.spreadsheet", string(ods))
	if opened.types() != original.types() || s.read(t, opened.ID, "") != want {
		t.Errorf("LibreOffice has %s, %v:\n%s\nwant %s:\n%s", opened.types(), opened.Warnings, s.read(t, opened.ID, ""), original.types(), want)
	}
}
