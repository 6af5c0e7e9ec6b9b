package workspace

// stat is what git's index remembers of a file, in its own units: the low 32
// bits of each, times as seconds and nanoseconds. Equal stats, taken long
// enough after the last change, mean equal content.
type stat struct {
	ctime, ctimeNS uint32
	mtime, mtimeNS uint32
	dev, ino       uint32
	uid, gid       uint32
	size           uint32
}

// same compares all that says something about the content: not the device,
// whose number changes when a disk is mounted again.
func (s stat) same(t stat) bool {
	s.dev, t.dev = 0, 0
	return s == t
}
