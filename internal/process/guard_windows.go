package process

// guard does nothing here yet: a tree whose starter is killed goes on.
type guard struct{}

func newGuard(string) *guard { return nil }

func (*guard) watch(int)   {}
func (*guard) release()    {}
func (*guard) is(int) bool { return false }
