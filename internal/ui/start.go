package ui

import (
	"bytes"
	"net/http"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// sampleName is what the sample feed is called, by which it is found again.
const sampleName = "Sample orders"

// startPage leads from nothing to a feed and a webhook.
type startPage struct {
	// Feed is the sample; nil before it is made.
	Feed *client.DataFeed
}

func findSample(v *visit) (*client.DataFeed, error) {
	v.api.PageSize = listedFeeds
	for f, err := range v.api.DataFeeds(v.r.Context()) {
		if err != nil {
			return nil, err
		}
		if f.Name == sampleName && f.Type == feedmill.FeedUpload {
			return &f, nil
		}
	}
	return nil, nil
}

func showStart(v *visit) error {
	f, err := findSample(v)
	if err != nil {
		return err
	}
	return v.render(http.StatusOK, "start", "Start", startPage{Feed: f})
}

// makeSample makes the sample feed, or gives it its next data.
func makeSample(v *visit) error {
	f, err := findSample(v)
	if err != nil {
		return err
	}
	u := client.Upload{Name: sampleName, Data: bytes.NewReader(read("start/sample.csv")), Format: "csv", FileName: "orders.csv", Mode: feedmill.ModeMerge, Key: []string{"order_no"}}
	if f == nil {
		_, err = v.api.CreateDataFeed(v.r.Context(), u)
	} else {
		u.Name, u.Mode, u.Key = "", "", nil
		if f.Version%2 == 1 {
			u.Data = bytes.NewReader(read("start/sample_next.csv"))
		}
		_, err = v.api.ReplaceData(v.r.Context(), f.ID, u)
	}
	if err != nil {
		return err
	}
	return v.redirect("/ui/start")
}
