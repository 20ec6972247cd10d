package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/feedmill/feedmill/bench/internal/rig"
)

// buildPatience bounds what is done after an interruption.
const buildPatience = time.Minute

// buildBase builds the program of a commit and keeps it in bin/guard, so that it is built only once.
// It returns the program and the full name of the commit.
func buildBase(ctx context.Context, commit string) (program, hash string, err error) {
	root, err := git(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		return "", "", err
	}
	if hash, err = git(ctx, "rev-parse", "--verify", "--end-of-options", commit+"^{commit}"); err != nil {
		return "", "", fmt.Errorf("-base %s is not a commit: %w", commit, err)
	}
	program = filepath.Join(root, "bin", "guard", "feedmill-"+hash+"-"+runtime.Version()+"-stripped")
	if _, err := os.Stat(program); err == nil {
		return program, hash, nil
	}
	fmt.Fprintf(os.Stderr, "building %.12s; without Go's build cache this takes minutes\n", hash)
	folder, err := os.MkdirTemp("", "feedmill-guard-")
	if err != nil {
		return "", "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	tree := filepath.Join(folder, "tree")
	if _, err := git(ctx, "worktree", "add", "--detach", tree, hash); err != nil {
		return "", "", err
	}
	defer func() {
		// Also after Ctrl-C.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), buildPatience)
		defer cancel()
		_, removed := git(ctx, "worktree", "remove", "--force", tree)
		err = errors.Join(err, removed)
	}()
	built := filepath.Join(folder, "feedmill")
	if err := build(ctx, tree, built); err != nil {
		return "", "", err
	}
	return program, hash, install(built, program)
}

// build builds the program of a tree.
func build(ctx context.Context, tree, program string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", rig.LinkerFlags(), "-o", program, "./cmd/feedmill")
	cmd.Dir = tree
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1", rig.CompilerFlags)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go build in %s: %w", tree, err)
	}
	return nil
}

// install copies a file to where it is kept. It is there either whole or not at all.
func install(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	part := fmt.Sprintf("%s.%d", to, os.Getpid())
	if err := os.WriteFile(part, data, 0o755); err != nil {
		return errors.Join(err, os.Remove(part))
	}
	return os.Rename(part, to)
}

// git runs git and returns what it prints.
func git(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "git", args...).Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("%w: %s", err, strings.TrimSpace(string(failed.Stderr)))
	}
	if err != nil {
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}
