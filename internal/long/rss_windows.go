package main

import "os"

// written is not told by the system here.
func written(*os.ProcessState) int64 { return 0 }

// maxRSS is not told by the system here.
func maxRSS(*os.ProcessState) int64 { return 0 }
