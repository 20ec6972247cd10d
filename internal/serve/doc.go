// Package serve is what stands between the network and the API: the bound on connections, TLS, and
// which pages of other origins may call.
package serve
