// Package machine is what this program has of the machine that it runs on: its memory, its
// disk, the files that it may have open, and the data folder, which it holds alone.
package machine
