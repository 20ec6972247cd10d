// Package ui is the pages for people, under /ui/.
//
// The pages are a customer of the public API: they read and write through the
// package client, over a transport that stays inside the process and carries
// the visitor's session. So there is no back door, every scope and limit holds,
// and what the API refuses finds its form field by its pointer.
//
// A page is a folder with its template, style and script, and a file of the
// same name here that fills it. frame/ has what all of them share. Pages are
// rendered here and can be read, and their forms be sent, without scripts;
// small modules make them lively. Nothing is loaded from elsewhere.
package ui
