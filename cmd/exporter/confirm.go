package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// errNeedsYes: without a terminal nobody can be asked, and silence is no consent.
var errNeedsYes = errors.New("stdin is not a terminal, so nobody can be asked: --yes goes ahead without asking")

// canAsk says why nobody can be asked.
func canAsk() error {
	if !isTerminal(os.Stdin) {
		return errNeedsYes
	}
	return nil
}

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

// confirmed asks on the terminal; anything but yes is no.
func confirmed(stderr io.Writer, question string) bool {
	fmt.Fprintf(stderr, "%s [y/N] ", question)
	answer, err := bufio.NewReader(os.Stdin).ReadString('\n')
	if err != nil {
		fmt.Fprintln(stderr)
	}
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}
