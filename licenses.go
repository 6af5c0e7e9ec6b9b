package duplex

import _ "embed"

// Licenses is what is linked besides our own code, on which terms, and the texts that those terms ask to
// pass on. `duplex version --licenses` prints it; the suite holds it against what is really linked.
//
//go:embed LICENSES.txt
var Licenses string
