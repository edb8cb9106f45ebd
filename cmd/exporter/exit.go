package main

import (
	"context"
	"os/signal"
	"syscall"
)

// exit is an exit status other than 0 and 1, with the line for stderr, if any.
type exit struct {
	status int
	line   string
}

func (e *exit) Error() string { return e.line }

// Exit statuses of apply and rollback; 0 is committed or nothing to do, 1
// refused: nothing was written.
const (
	exitRolledBack     = 2 // all is as before
	exitUndoIncomplete = 3
)

// interruptible ends with SIGINT or SIGTERM; a second one ends the process.
func interruptible() (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}
