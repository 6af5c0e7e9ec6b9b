package process

// Ask asks one process to end, and nothing that it started: it may have much to
// tell before it goes. Somebody else with its number is not asked. On Windows it
// is ended.
func Ask(i Ident) {
	if i.Liveness() == Live && !spared()[i.PID] {
		terminate(i.PID)
	}
}
