package browser

import (
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/feedmill/feedmill/client"
)

// TestWorkspacesPage changes the quotas of a workspace, refuses a wrong number and a wrong
// name, and deletes the workspace.
func TestWorkspacesPage(t *testing.T) {
	w, err := admin().NewWorkspace(t.Context(), client.WorkspaceChange{
		"name": "Hof Lund ApS", "externalId": "shop-4411", "metadata": map[string]any{"plan": "business"}, "quotas": map[string]any{"storedBytes": 1_000_000_000, "subscriptions": 10},
	})
	if err != nil {
		t.Fatal(err)
	}
	b := signedIn(t, server.key)
	b.visit("/ui/workspaces?q=shop-4411")
	b.sees("1 of")
	b.accessible("workspaces-found")
	b.do(chromedp.Click("tbody .name a"))
	b.wait(`document.querySelector('.save-line button')?.disabled === true`)
	b.accessible("workspace")
	b.do(chromedp.SetValue("#subscriptions", "20"), chromedp.SendKeys("#subscriptions", " "))
	b.wait(`document.querySelector('[data-changed]').innerText === 'Changed: subscriptions, from 10 to 20'`)
	b.do(chromedp.Click(".save-line button"))
	b.sees("Saved")
	if got, err := admin().Workspace(t.Context(), w.ID); err != nil || *got.Quotas.Subscriptions != 20 || *got.Quotas.StoredBytes != 1_000_000_000 || got.Metadata["plan"] != "business" {
		t.Errorf("the workspace is %+v, %v", got, err)
	}
	b.expected = []string{"422"}
	b.do(chromedp.SetValue("#uploads", "33"), chromedp.SendKeys("#uploads", " "), chromedp.Click(".save-line button"))
	b.wait(`document.querySelector('#uploads-message')?.innerText.includes('between 0 and 32')`)
	b.accessible("workspace-wrong")
	b.visit("/ui/workspaces/" + w.ID)
	b.do(chromedp.SetValue("#portal-pages", "subscriptions,events"), chromedp.Click(".portal-form button"))
	b.wait(`document.querySelector('dialog #portal-url')?.innerText.includes('/portal/links/')`)
	b.accessible("workspace-portal-link")
	b.do(chromedp.Click("dialog .primary"))
	b.sees("Not opened")
	b.accessible("workspace-portal")
	b.do(chromedp.Click(".portal-list button.danger"))
	b.sees("Revoked")
	b.wait(`!document.querySelector('.portal-list')`)
	b.do(chromedp.Click(".beside-detail summary"), chromedp.SetValue("#confirm", "Hof Lund"), chromedp.Click("dialog .sure"))
	b.wait(`document.querySelector('#confirm-message')`)
	b.do(chromedp.SetValue("#confirm", "Hof Lund ApS"), chromedp.Click(".sure-box .sure"))
	b.sees("The server deletes this workspace")
	b.accessible("workspace-deleting")
}

// TestWorkspacesPageWithoutScript uses the forms alone, and shows a tenant only its own
// workspace, without anything to change.
func TestWorkspacesPageWithoutScript(t *testing.T) {
	w, err := admin().CreateWorkspace(t.Context(), "Garn <i>")
	if err != nil {
		t.Fatal(err)
	}
	operator := plainly(t, server.key)
	path := "/ui/workspaces/" + w.ID
	page := operator.send(path+"/change", url.Values{"name": {"Garn & Co."}, "external": {"shop-3016"}, "metadata": {`{"a":1}`}, "stored": {"1000"}, "queries": {""}})
	for _, part := range []string{"Garn &amp; Co.", `value="shop-3016"`, `value="1000"`} {
		if !strings.Contains(page, part) {
			t.Errorf("the page lacks %s: %s", part, page)
		}
	}
	for field, value := range map[string]string{"metadata": "{", "stored": "much", "name": "default"} {
		form := url.Values{"name": {"Garn & Co."}}
		form.Set(field, value)
		if page := operator.refused(path+"/change", form); !strings.Contains(page, `id="`+field+`-message"`) {
			t.Errorf("%s is not marked: %s", field, page)
		}
	}
	_, key := workspace(t)
	tenant := plainly(t, key)
	page = tenant.see("/ui/workspaces")
	if strings.Contains(page, "Garn") || strings.Contains(page, "New workspace") || !strings.Contains(page, "current workspace") {
		t.Errorf("a tenant sees %s", page)
	}
	operator.send(path+"/delete", url.Values{"confirm": {"Garn & Co."}})
}
