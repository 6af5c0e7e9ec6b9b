package main

import "os"

// maxRSS is not told by the system here.
func maxRSS(*os.ProcessState) int64 { return 0 }
