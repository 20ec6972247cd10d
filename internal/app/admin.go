package app

import (
	"context"
	"errors"
	"net/http"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/api"
)

// Handler is the API of workspaces, keys and the audit log for the operator who has the stores at hand and no key: every
// request is one of an admin of the default workspace. Commands use it while no server
// runs.
func (a *App) Handler(ctx context.Context) (http.Handler, error) {
	w, err := a.store.WorkspaceByName(ctx, feedmill.DefaultWorkspace)
	if errors.Is(err, feedmill.ErrNotFound) {
		w = newDefaultWorkspace()
		err = a.store.CreateWorkspace(ctx, w, nil)
	}
	if err != nil {
		return nil, err
	}
	who := operator{feedmill.Principal{Workspace: w.ID, Subject: feedmill.Operator.Subject, Name: feedmill.Operator.Name, Scopes: feedmill.Scopes, AllWorkspaces: true}}
	return api.NewAdmin(api.Options{Auth: who, Vault: a.vault, Log: a.log, Metrics: newMetrics()}, a.store), nil
}

// operator is who runs a command on the stores themselves.
type operator struct{ feedmill.Principal }

func (o operator) Authenticate(context.Context, string) (feedmill.Principal, error) {
	return o.Principal, nil
}

func (operator) Forget(feedmill.ID) {}
