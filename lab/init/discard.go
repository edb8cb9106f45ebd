package main

import (
	"fmt"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"github.com/netsteer/netsteer/lab/wire"
)

// discard opens the discard port with a socket filter that takes no byte: the
// kernel drops the packets at the socket, so they cost no reader and get no
// ICMP answer.
func discard() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("discard port: %w", err)
	}
	code, err := bpf.Assemble([]bpf.Instruction{bpf.RetConstant{Val: 0}})
	if err != nil {
		return err
	}
	filter := []unix.SockFilter{{Code: code[0].Op, Jt: code[0].Jt, Jf: code[0].Jf, K: code[0].K}}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &program); err != nil {
		return fmt.Errorf("discard port: %w", err)
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Port: wire.DiscardPort}); err != nil {
		return fmt.Errorf("discard port: %w", err)
	}
	return nil
}
