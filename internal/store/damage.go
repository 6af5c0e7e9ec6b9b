package store

// damaged says what SQLite's complaint means for the jobs.
func (s *Store) damaged(err error) error {
	return &DamagedError{Path: s.path, Err: err}
}
