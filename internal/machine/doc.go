// Package machine reports and manages the resources of this process: memory, disk space,
// open files and the data folder, which it locks.
package machine
