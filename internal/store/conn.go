package store

import (
	"context"
	"database/sql/driver"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"time"

	"modernc.org/sqlite"
)

// conn is one connection to the database, used by one goroutine at a time.
type conn struct {
	c     driver.Conn
	stmts map[string]*stmt
}

// stmt is a prepared statement. Busy: its rows are being read.
type stmt struct {
	s    driver.Stmt
	busy bool
}

// dial opens a connection. The file must be there: SQLite is never asked to make
// one, so that a lost database stays an error.
func dial(path, mode string, busy time.Duration) (*conn, error) {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	path = filepath.ToSlash(path)
	if runtime.GOOS == "windows" {
		path = "/" + path
	}
	name := "file://" + (&url.URL{Path: path}).EscapedPath() + "?" + mode +
		"&_error_rc=1&_busy_timeout=" + strconv.FormatInt(busy.Milliseconds(), 10)
	c, err := (&sqlite.Driver{}).Open(name)
	if err != nil {
		return nil, err
	}
	return &conn{c: c, stmts: map[string]*stmt{}}, nil
}

func (c *conn) close() error {
	for _, s := range c.stmts {
		s.s.Close()
	}
	return c.c.Close()
}

// script runs statements without parameters, once, without keeping them.
func (c *conn) script(ctx context.Context, sql string) error {
	_, err := c.c.(driver.ExecerContext).ExecContext(ctx, sql, nil)
	return err
}

// prepare gives a statement that is not in use, and what to do when done with it.
func (c *conn) prepare(sql string) (driver.Stmt, func(), error) {
	known := c.stmts[sql]
	if known != nil && !known.busy {
		known.busy = true
		return known.s, func() { known.busy = false }, nil
	}
	s, err := c.c.Prepare(sql)
	if err != nil {
		return nil, nil, fmt.Errorf("prepare %s: %w", sql, err)
	}
	if known != nil { // reading inside reading: this one serves once
		return s, func() { s.Close() }, nil
	}
	kept := &stmt{s: s, busy: true}
	c.stmts[sql] = kept
	return s, func() { kept.busy = false }, nil
}

// exec runs one statement and reports how many rows it changed. A single
// statement is never interrupted midway: ends of a context are seen between them.
func (c *conn) exec(sql string, args ...any) (int64, error) {
	s, done, err := c.prepare(sql)
	if err != nil {
		return 0, err
	}
	defer done()
	r, err := s.(driver.StmtExecContext).ExecContext(context.Background(), named(args))
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// query hands each row to fn. What fn is given holds until it returns.
func (c *conn) query(fn func(row) error, sql string, args ...any) error {
	s, done, err := c.prepare(sql)
	if err != nil {
		return err
	}
	defer done()
	rows, err := s.(driver.StmtQueryContext).QueryContext(context.Background(), named(args))
	if err != nil {
		return err
	}
	defer rows.Close()
	r := make(row, len(rows.Columns()))
	for {
		switch err := rows.Next(r); {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		if err := fn(r); err != nil {
			return err
		}
	}
}

// one reads a single row; found is false when there is none.
func (c *conn) one(fn func(row) error, sql string, args ...any) (found bool, err error) {
	err = c.query(func(r row) error {
		found = true
		return fn(r)
	}, sql, args...)
	return found, err
}

// row is what SQLite gives: int64, float64, string, []byte or nil.
type row []driver.Value

func (r row) str(i int) string {
	switch v := r[i].(type) {
	case string:
		return v
	case []byte:
		return string(v)
	}
	return ""
}

func (r row) int(i int) int64 {
	v, _ := r[i].(int64)
	return v
}

func (r row) bytes(i int) []byte {
	switch v := r[i].(type) {
	case []byte:
		return v
	case string:
		return []byte(v)
	}
	return nil
}

// named numbers the arguments and makes SQLite's own types of ours.
func named(args []any) []driver.NamedValue {
	out := make([]driver.NamedValue, len(args))
	for i, a := range args {
		out[i] = driver.NamedValue{Ordinal: i + 1, Value: plain(a)}
	}
	return out
}

func plain(a any) driver.Value {
	switch v := a.(type) {
	case nil, int64, float64, string, []byte:
		return v
	case bool:
		if v {
			return int64(1)
		}
		return int64(0)
	}
	v := reflect.ValueOf(a)
	switch {
	case v.CanInt():
		return v.Int()
	case v.Kind() == reflect.String:
		return v.String()
	}
	return a
}
