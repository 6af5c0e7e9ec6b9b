package agent

// Learn corrects levels by what a session showed: compacted is the context, in
// tokens, at which its agent last compacted by itself, largest the most that one
// step added. Who runs an account may set other sizes than the table has, and no
// hook is told of them.
func (l Levels) Learn(compacted, largest int64) Levels {
	switch {
	case compacted <= 0:
	case l.Level == 0, compacted < l.Level:
		l.Level = compacted
	case compacted-l.Level > largest: // no step leads over the level that far
		l.Level = compacted - largest
	}
	return l
}
