package ui

import (
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// feedVersions are the versions of a feed that are kept.
type feedVersions struct {
	Head     feedHead
	Versions []client.FeedVersion
	Older    string
	Plot     plot
}

// Pauses reports whether a restore pauses the feed: the next refresh would replace its rows.
func (p feedVersions) Pauses() bool {
	return p.Head.Schedule != nil && p.Head.Mode == feedmill.ModeReplace
}

func showFeedVersions(v *visit) error {
	head, err := headOf(v, "versions")
	if err != nil {
		return err
	}
	p := feedVersions{Head: head, Plot: plot{Title: "Rows in each version", Near: true}}
	p.Versions, p.Older, err = pageOf(v, listedRecords, func() iter.Seq2[client.FeedVersion, error] { return v.api.FeedVersions(v.r.Context(), head.ID) })
	if err != nil {
		return err
	}
	rows := plotSeries{Name: "rows", Class: "accent"}
	for _, version := range slices.Backward(p.Versions) {
		p.Plot.At = append(p.Plot.At, version.CreatedAt)
		rows.Values = append(rows.Values, float64(version.RowCount))
	}
	p.Plot.Series = []plotSeries{rows}
	p.Plot = p.Plot.thinned()
	return v.render(http.StatusOK, "feed_versions", head.Name, p)
}

// changeVersion pins a version, lets it go, or makes its rows current again.
func changeVersion(v *visit) error {
	id := v.r.PathValue("id")
	number, err := strconv.ParseInt(v.r.PathValue("version"), 10, 64)
	if err != nil {
		return &client.Problem{Status: http.StatusNotFound, Title: "The resource was not found", Detail: "A version must be a number."}
	}
	done := "saved"
	if v.r.PostFormValue("do") == "restore" {
		_, err = v.api.RestoreVersion(v.r.Context(), id, number)
		done = "restored"
	} else {
		_, err = v.api.PinVersion(v.r.Context(), id, number, v.r.PostFormValue("do") == "pin")
	}
	if err != nil {
		return err
	}
	return v.redirect(feedPagePath(id) + "/versions?did=" + done)
}

// feedLinks are the URLs that read a feed without a key.
type feedLinks struct {
	Head  feedHead
	Links []client.Link
	Older string
	// Made has the URL that is shown once.
	Made *client.Link

	Name, Format, Expires string
	Fields                []string
	Faults                map[string]string
}

// LinkFormats are those that a link can be fixed to.
func (feedLinks) LinkFormats() []string { return []string{"csv", "xlsx", "json", "ndjson", "parquet"} }

// Chosen reports whether a column is one of those of the form.
func (l feedLinks) Chosen(name string) bool { return slices.Contains(l.Fields, name) }

func (l *feedLinks) show(v *visit, status int) (err error) {
	if l.Head, err = headOf(v, "links"); err != nil {
		return err
	}
	l.Links, l.Older, err = pageOf(v, listedRecords, func() iter.Seq2[client.Link, error] { return v.api.Links(v.r.Context(), l.Head.ID) })
	if err != nil {
		return err
	}
	return v.render(status, "feed_links", l.Head.Name, l)
}

func showFeedLinks(v *visit) error { return (&feedLinks{}).show(v, http.StatusOK) }

func createLink(v *visit) error {
	form := func(name string) string { return strings.TrimSpace(v.r.PostFormValue(name)) }
	l := feedLinks{Name: form("name"), Format: form("format"), Expires: form("expires"), Fields: v.r.PostForm["fields"]}
	link := client.NewLink{Name: l.Name, Format: l.Format, Fields: l.Fields}
	if d, err := feedmill.ParseDuration(l.Expires); err == nil && d > 0 {
		link.ExpiresAt = time.Now().Add(d)
	}
	made, err := v.api.CreateLink(v.r.Context(), v.r.PathValue("id"), link)
	if err != nil {
		faults, ok := faultsOf(err, "name", "format", "fields", "expiresAt")
		if !ok {
			return err
		}
		l.Faults = faults
		return l.show(v, http.StatusUnprocessableEntity)
	}
	return (&feedLinks{Made: &made}).show(v, http.StatusOK)
}

func revokeLink(v *visit) error {
	id := v.r.PathValue("id")
	if err := v.api.DeleteLink(v.r.Context(), id, v.r.PathValue("lnk")); err != nil {
		return err
	}
	return v.redirect(feedPagePath(id) + "/links?did=revoked")
}
