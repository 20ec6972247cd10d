//go:build race

package worker

// memoryFactor is how many times as much memory a process takes with the race detector.
const memoryFactor = 8
