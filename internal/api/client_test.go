package api

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// Records that have null for what a client reads as a zero value have types of their own here.
// Their members are those of the client's types.
func TestMembersOfClient(t *testing.T) {
	for _, pair := range [][2]any{
		{connectionView{}, client.Connection{}},
		{deliveryView{}, client.Delivery{}},
		{lastAttemptView{}, client.LastAttempt{}},
		{attemptView{}, client.Attempt{}},
		{eventView{}, client.Event{}},
		{matchView{}, client.EventMatch{}},
		{exchangeView{}, client.Exchange{}},
		{feedView{}, client.DataFeed{}},
		{feedErrorView{}, client.FeedError{}},
		{columnView{}, feedmill.Column{}},
		{warningView{}, feedmill.Warning{}},
		{previewView{}, client.DataPreview{}},
		{expectView{}, client.Expect{}},
		{profileView{}, client.FeedProfile{}},
		{checksView{}, client.Checks{}},
		{checkView{}, client.Check{}},
		{columnProfileView{}, client.ColumnProfile{}},
		{wholeRefreshView{}, client.Refresh{}},
		{tracedView{}, client.TracedRequest{}},
		{versionView{}, client.FeedVersion{}},
		{keepView{}, client.Keep{}},
		{keyView{}, client.Key{}},
		{workspaceView{}, client.Workspace{}},
		{linkView{}, client.Link{}},
		{portalLinkView{}, client.PortalLink{}},
		{problem{}, client.Problem{}},
		{problemFault{}, client.Fault{}},
		{fieldView{}, client.ViewField{}},
		{queryPreviewView{}, client.QueryPreview{}},
		{multiView{}, client.CreatedSubscriptions{}},
	} {
		written, read := members(reflect.TypeOf(pair[0])), members(reflect.TypeOf(pair[1]))
		if len(written) == 0 || !slices.Equal(written, read) {
			t.Errorf("%T has the members\n%s, and %T\n%s", pair[0], written, pair[1], read)
		}
	}
}

// members are the names of a type's members, sorted.
func members(of reflect.Type) (names []string) {
	for f := range of.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			names = append(names, members(f.Type)...)
		case name != "" && name != "-":
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
