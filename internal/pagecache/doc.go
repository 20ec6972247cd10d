// Package pagecache advises the kernel which parts of files to keep in memory. Advice changes
// how long reads and writes take, never their results. Except on Linux it does nothing.
package pagecache
