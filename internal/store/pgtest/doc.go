// Package pgtest gives tests a private PostgreSQL.
//
// [New] is all that most tests need: it returns the URL of an empty database
// of the test's own, on a server that the test binary starts once, on a free
// port of the loopback interface, the first time it is asked. That server
// trades durability for speed. A test of crashes takes a server for itself
// with [Start] and stops it as hard as it likes.
//
// Nothing outlives the test binary, however it ends. Each server is started by
// a watchdog, a small shell process that holds one end of a pipe; when the
// test binary goes away, killed or not, the pipe closes, and the watchdog stops
// the server and removes its folder. So there is nothing to call from TestMain.
//
// The server's programs are those that Debian installs, or those of the
// search path. Where there are none a test is skipped, or fails under CI=true.
package pgtest
