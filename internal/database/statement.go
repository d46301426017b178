package database

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
)

// statement is a prepared statement of one connection.
type statement struct {
	stmt    driver.Stmt
	execer  driver.StmtExecContext
	queryer driver.StmtQueryContext
}

func (c *connection) prepare(query string) (*statement, error) {
	stmt, err := c.conn.(driver.ConnPrepareContext).PrepareContext(context.Background(), query) //nolint:forcetypeassert // SQLite's driver has it
	if err != nil {
		return nil, explain(err)
	}
	return &statement{stmt, stmt.(driver.StmtExecContext), stmt.(driver.StmtQueryContext)}, nil //nolint:forcetypeassert // as above
}

func (s *statement) close() error { return s.stmt.Close() }

func (s *statement) exec(ctx context.Context, args []any) (sql.Result, error) {
	values, err := driverValues(args)
	if err != nil {
		return nil, err
	}
	r, err := s.execer.ExecContext(ctx, values)
	return r, explain(err)
}

func (s *statement) query(ctx context.Context, args []any) (*rows, error) {
	values, err := driverValues(args)
	if err != nil {
		return nil, err
	}
	r, err := s.queryer.QueryContext(ctx, values)
	if err != nil {
		return nil, explain(err)
	}
	return &rows{rows: r, values: make([]driver.Value, len(r.Columns()))}, nil
}

func (s *statement) row(ctx context.Context, args []any) Row {
	r, err := s.query(ctx, args)
	if err != nil {
		return failedRow{err}
	}
	return onlyRow{r}
}

// driverValues turns arguments into what the driver takes.
func driverValues(args []any) ([]driver.NamedValue, error) {
	values := make([]driver.NamedValue, len(args))
	for i, arg := range args {
		values[i].Ordinal = i + 1
		switch v := arg.(type) {
		case nil, int64, string, bool, float64, []byte:
			values[i].Value = v
		case int:
			values[i].Value = int64(v)
		default:
			converted, err := driver.DefaultParameterConverter.ConvertValue(arg)
			if err != nil {
				return nil, fmt.Errorf("argument %d: %w", i+1, err)
			}
			values[i].Value = converted
		}
	}
	return values, nil
}

// rows implements Rows.
type rows struct {
	rows   driver.Rows
	values []driver.Value
	err    error
	closed bool
}

func (r *rows) Next() bool {
	if r.closed || r.err != nil {
		return false
	}
	err := r.rows.Next(r.values)
	if err == nil {
		return true
	}
	if !errors.Is(err, io.EOF) {
		r.err = explain(err)
	}
	_ = r.Close()
	return false
}

func (r *rows) Scan(dest ...any) error {
	if len(dest) != len(r.values) {
		return fmt.Errorf("a row has %d columns, and %d are wanted", len(r.values), len(dest))
	}
	for i, d := range dest {
		if err := assign(d, r.values[i]); err != nil {
			return fmt.Errorf("column %d: %w", i+1, err)
		}
	}
	return nil
}

func (r *rows) Err() error { return r.err }

func (r *rows) Close() error {
	if r.closed {
		return nil
	}
	r.closed = true
	return r.rows.Close()
}

// onlyRow is the Row of a query.
type onlyRow struct{ rows *rows }

func (r onlyRow) Scan(dest ...any) error {
	defer r.rows.Close() //nolint:errcheck // what matters was read
	if !r.rows.Next() {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return sql.ErrNoRows
	}
	return r.rows.Scan(dest...)
}

// failedRow is the Row of a query that could not be made.
type failedRow struct{ err error }

func (r failedRow) Scan(...any) error { return r.err }

// assign stores a column's value where dest points to. It takes the types that the packages above
// use, and is strict where SQLite is not: a text is no number.
func assign(dest any, v driver.Value) error {
	switch d := dest.(type) {
	case *int64:
		if n, ok := v.(int64); ok {
			*d = n
			return nil
		}
	case *int:
		if n, ok := v.(int64); ok {
			*d = int(n)
			return nil
		}
	case *string:
		switch t := v.(type) {
		case string:
			*d = t
			return nil
		case []byte:
			*d = string(t)
			return nil
		case int64:
			*d = strconv.FormatInt(t, 10)
			return nil
		}
	case *[]byte:
		switch t := v.(type) {
		case string:
			*d = []byte(t)
			return nil
		case []byte:
			*d = append([]byte(nil), t...)
			return nil
		case nil:
			*d = nil
			return nil
		}
	case *bool:
		if n, ok := v.(int64); ok {
			*d = n != 0
			return nil
		}
	case *any:
		*d = v
		return nil
	case sql.Scanner:
		return d.Scan(v)
	default:
		return assignKind(reflect.ValueOf(dest), v)
	}
	return cannotAssign(dest, v)
}

// assignKind is assign for named types.
func assignKind(dest reflect.Value, v driver.Value) error {
	if dest.Kind() == reflect.Pointer && !dest.IsNil() {
		d := dest.Elem()
		switch value := v.(type) {
		case string:
			switch {
			case d.Kind() == reflect.String:
				d.SetString(value)
				return nil
			case d.Kind() == reflect.Slice && d.Type().Elem().Kind() == reflect.Uint8:
				d.SetBytes([]byte(value))
				return nil
			}
		case int64:
			switch d.Kind() { //nolint:exhaustive // the others cannot take a number
			case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
				if !d.OverflowInt(value) {
					d.SetInt(value)
					return nil
				}
			case reflect.Bool:
				d.SetBool(value != 0)
				return nil
			case reflect.Float64:
				d.SetFloat(float64(value))
				return nil
			}
		case float64:
			if d.Kind() == reflect.Float64 {
				d.SetFloat(value)
				return nil
			}
		}
	}
	return cannotAssign(dest.Interface(), v)
}

func cannotAssign(dest any, v driver.Value) error {
	return fmt.Errorf("a %T cannot be read into a %T", v, dest)
}
