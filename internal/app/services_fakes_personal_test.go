package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

var personalConformances = map[string]conformance{
	"hubspot":          {fake: fakeHubSpot, more: map[string]func(int) apiRecord{"contacts": hubspotRecord, "companies": hubspotRecord, "deals": hubspotRecord}},
	"google_analytics": {fake: fakeAnalytics, config: map[string]any{"property": "123"}, more: map[string]func(int) apiRecord{"daily": dayRecord, "channels": dayRecord, "pages": dayRecord, "countries": dayRecord}},
	"google_sheets":    {fake: fakeSheets, config: map[string]any{"spreadsheet": "sheet-id"}},
}

// fakeHubSpot answers as the search of https://developers.hubspot.com/docs/api/crm does.
func fakeHubSpot(t testing.TB) *fakeAPI {
	records := map[string][]apiRecord{}
	for _, view := range []string{"contacts", "companies", "deals"} {
		for i := 1; i <= 130; i++ {
			records[view] = append(records[view], hubspotRecord(i))
		}
	}
	return newFakeAPI(t, records, func(f *fakeAPI, w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Limit        int
			After        string
			Properties   []string
			FilterGroups []struct {
				Filters []struct{ PropertyName, Operator, Value string }
			}
		}
		view := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/crm/v3/objects/"), "/search")
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || r.Method != "POST" || f.records[view] == nil || len(asked.Properties) == 0 {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"status":"error","category":"VALIDATION_ERROR"}`)
			return
		}
		all := pickRecords(f.records[view], func(r apiRecord) bool {
			for _, filter := range asked.FilterGroups[0].Filters {
				at, _ := time.Parse(time.RFC3339, said(r["updatedAt"]))
				if filter.Operator != "GTE" || !strings.HasSuffix(filter.PropertyName, "lastmodifieddate") || at.UnixMilli() < int64(number(filter.Value)) {
					return false
				}
			}
			return true
		})
		from := number(asked.After)
		to := min(from+asked.Limit, len(all))
		answer := apiRecord{"total": len(all), "results": all[from:to]}
		if to < len(all) {
			answer["paging"] = apiRecord{"next": apiRecord{"after": fmt.Sprint(to)}}
		}
		writeJSON(w, answer)
	})
}

func hubspotRecord(i int) apiRecord {
	return apiRecord{
		"id": fmt.Sprint(i), "createdAt": stamp(i - 1), "updatedAt": stamp(i), "archived": false,
		"properties": apiRecord{"email": fmt.Sprintf("c%d@example.com", i), "firstname": "Ada", "name": fmt.Sprint("Company ", i), "numberofemployees": fmt.Sprint(i), "amount": fmt.Sprintf("%d.50", i), "closedate": stamp(i), "dealname": "Deal", "phone": nil},
	}
}

// fakeAnalytics answers as runReport of the Data API of Google Analytics does.
func fakeAnalytics(t testing.TB) *fakeAPI {
	records := map[string][]apiRecord{}
	for _, view := range []string{"daily", "channels", "pages", "countries"} {
		for i := range 50 {
			records[view] = append(records[view], dayRecord(i))
		}
	}
	views := map[string]string{"date": "daily", "date,sessionDefaultChannelGroup,sessionSource,sessionMedium": "channels", "date,pagePath,pageTitle": "pages", "date,country,deviceCategory": "countries"}
	day := func(text string) string {
		switch text {
		case "today":
			return time.Now().UTC().Format(time.DateOnly)
		case "90daysAgo":
			return time.Now().UTC().AddDate(0, 0, -90).Format(time.DateOnly)
		}
		return text
	}
	return newFakeAPI(t, records, func(f *fakeAPI, w http.ResponseWriter, r *http.Request) {
		type named struct{ Name string }
		var asked struct {
			DateRanges          []struct{ StartDate, EndDate string }
			Dimensions, Metrics []named
			Limit, Offset       json.Number
		}
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || r.URL.Path != "/properties/123:runReport" || len(asked.DateRanges) != 1 {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"error":{"code":400,"status":"INVALID_ARGUMENT"}}`)
			return
		}
		var names []string
		for _, d := range asked.Dimensions {
			names = append(names, d.Name)
		}
		all := pickRecords(f.records[views[strings.Join(names, ",")]], func(r apiRecord) bool {
			return said(r["day"]) >= day(asked.DateRanges[0].StartDate) && said(r["day"]) <= day(asked.DateRanges[0].EndDate)
		})
		limit, offset := number(asked.Limit.String()), number(asked.Offset.String())
		answer := apiRecord{"rowCount": len(all), "kind": "analyticsData#runReport"}
		var rows []apiRecord
		for _, r := range all[min(offset, len(all)):min(offset+limit, len(all))] {
			var dimensions, metrics []apiRecord
			for _, name := range names {
				value := name + " of " + said(r["day"])
				if name == "date" {
					value = strings.ReplaceAll(said(r["day"]), "-", "")
				}
				dimensions = append(dimensions, apiRecord{"value": value})
			}
			for range asked.Metrics {
				metrics = append(metrics, apiRecord{"value": "12"})
			}
			rows = append(rows, apiRecord{"dimensionValues": dimensions, "metricValues": metrics})
		}
		if len(rows) > 0 {
			answer["rows"] = rows
		}
		writeJSON(w, answer)
	})
}

func dayRecord(i int) apiRecord {
	return apiRecord{"day": fakeDay.AddDate(0, 0, i).Format(time.DateOnly)}
}

// fakeSheets answers as https://developers.google.com/workspace/sheets/api does.
func fakeSheets(t testing.TB) *fakeAPI {
	records := map[string][]apiRecord{}
	for i := range 130 {
		records["rows"] = append(records["rows"], apiRecord{"cells": []string{fmt.Sprint("name ", i), fmt.Sprint(i)}[:1+i%2]})
	}
	for i := range 3 {
		records["tabs"] = append(records["tabs"], apiRecord{"properties": apiRecord{"sheetId": i, "title": fmt.Sprint("Sheet", i), "index": i, "sheetType": "GRID", "gridProperties": apiRecord{"rowCount": 1000, "columnCount": 26}}})
	}
	return newFakeAPI(t, records, func(f *fakeAPI, w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/spreadsheets/sheet-id":
			writeJSON(w, apiRecord{"sheets": f.records["tabs"]})
		case "/spreadsheets/sheet-id/values/A:Z":
			var values [][]string
			for _, r := range f.records["rows"] {
				values = append(values, r["cells"].([]string))
			}
			writeJSON(w, apiRecord{"range": "Sheet0!A1:Z1000", "majorDimension": "ROWS", "values": values})
		default:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"error":{"code":404,"status":"NOT_FOUND"}}`)
		}
	})
}
