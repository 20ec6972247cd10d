//go:build !linux

package pagecache

import "os"

// Load reads a part of a file into memory in the background.
func Load(*os.File, int64, int64) {}

// WriteOut writes a part of a file to disk in the background.
func WriteOut(*os.File, int64, int64) {}

// Drop removes a part of a file from memory, except what is not on disk yet.
func Drop(*os.File, int64, int64) {}
