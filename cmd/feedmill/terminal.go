package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), getTermios)
	return err == nil
}

// readSecret reads a line that nobody else shall see: from a terminal after a
// prompt and without an echo, or as it is from anything else.
func readSecret(ctx context.Context, in io.Reader, notes io.Writer, prompt string) (string, error) {
	f, ok := in.(*os.File)
	if !ok || !isTerminal(f) {
		return readLine(in)
	}
	before, err := unix.IoctlGetTermios(int(f.Fd()), getTermios)
	if err != nil {
		return "", err
	}
	hidden := *before
	hidden.Lflag &^= unix.ECHO
	if err := unix.IoctlSetTermios(int(f.Fd()), setTermios, &hidden); err != nil {
		return "", err
	}
	defer func() {
		unix.IoctlSetTermios(int(f.Fd()), setTermios, before)
		fmt.Fprintln(notes)
	}()
	fmt.Fprint(notes, prompt)
	return readTyped(ctx, f)
}

// readTyped reads a line from a terminal. A read of a terminal cannot be canceled: if the
// user interrupts the program, it ends with the program.
func readTyped(ctx context.Context, f *os.File) (string, error) {
	type result struct {
		line string
		err  error
	}
	typed := make(chan result, 1)
	go func() {
		line, err := readLine(f)
		typed <- result{line, err}
	}()
	select {
	case r := <-typed:
		return r.line, r.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func readLine(r io.Reader) (string, error) {
	line, err := bufio.NewReader(io.LimitReader(r, 1<<16)).ReadString('\n')
	if err == io.EOF {
		err = nil
	}
	return strings.TrimSpace(line), err
}
