package scripted

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// ended gives a context that ends when the program is told to.
func ended(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
}
