package agent

// Settled is an adapter whose agent takes its levels also from settings files.
type Settled interface {
	// Settings are the places that set something, the strongest first: paths, and of
	// the command line also a whole text, which begins with {.
	Settings(home, dir string, args []string, env func(string) string) []string
	// Setting is the value that one such text gives a name of Levels, "" for none.
	Setting(text []byte, name string) string
}
