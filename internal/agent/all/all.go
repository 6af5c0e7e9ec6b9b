// Package all lists the agents this binary reads, explicitly: no package
// registers itself.
package all

import (
	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/agent/claude"
	"github.com/seed-5777983b/duplex/internal/agent/script"
)

// Adapters are the agents, the scripted one last.
func Adapters() []agent.Adapter {
	return []agent.Adapter{claude.Adapter{}, script.Adapter{}}
}

// Drivers are those that duplex run can start.
func Drivers() []agent.Driver {
	return []agent.Driver{claude.Adapter{}, script.Adapter{}}
}
