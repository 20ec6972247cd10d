//go:build !linux

package worker

import "errors"

func caged() error { return nil }

func statm() ([]byte, error) { return nil, errors.ErrUnsupported }
