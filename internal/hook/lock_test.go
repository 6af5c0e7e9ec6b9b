package hook

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"

	_ "modernc.org/sqlite" // the lock is taken as another program would
)

// lock holds the store's one writer's place until it is released.
func lock(t *testing.T, home string) (release func()) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(home, "duplex.db"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.ExecContext(context.Background(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	return func() {
		if _, err := c.ExecContext(context.Background(), "ROLLBACK"); err != nil {
			t.Fatal(err)
		}
		c.Close()
		db.Close()
	}
}
