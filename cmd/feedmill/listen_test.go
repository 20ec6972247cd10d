package main

import (
	"context"
)

// launchListener starts "feedmill listen" on a server and returns when it
// listens.
func launchListener(dir, server, key string, args ...string) (*process, error) {
	env := []string{"FEEDMILL_SERVER=" + server, "FEEDMILL_API_KEY=" + key, leashEnv + "=1"}
	cmd, err := command(context.Background(), dir, env, append([]string{"listen"}, args...)...)
	if err != nil {
		return nil, err
	}
	p, err := begin(cmd)
	if err != nil {
		return nil, err
	}
	if _, err := p.find(`(whsec_\S+=)`); err != nil {
		p.kill()
		return nil, err
	}
	return p, nil
}
