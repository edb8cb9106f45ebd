package main

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// filter opens packet sockets whose filters together divide so many times and
// then drop the packet, which the stack goes on with. They are never closed.
func filter(steps int) error {
	const most = 4000 // BPF_MAXINSNS is 4096
	for ; steps > most; steps -= most {
		if err := filterSocket(most); err != nil {
			return err
		}
	}
	return filterSocket(steps)
}

func filterSocket(steps int) error {
	// Protocol ETH_P_IP, in network order, sees what is received only; one that
	// sees all would see what is sent too.
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.ETH_P_IP>>8)
	if err != nil {
		return fmt.Errorf("packet socket: %w", err)
	}
	program := make([]unix.SockFilter, steps+2)
	program[0] = unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_LEN}
	for i := range steps {
		program[1+i] = unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_DIV | unix.BPF_K, K: 3}
	}
	program[steps+1] = unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K}
	if err := unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{
		Len: uint16(len(program)), Filter: &program[0],
	}); err != nil {
		return fmt.Errorf("filter of %d steps: %w", steps, err)
	}
	return nil
}
