// Package duplex is the tour: fifteen minutes, after which you can say where a change belongs. It holds no
// code but the licences of what is linked.
//
// # What it is about
//
// Long work of AI agents outlasts their sessions. A job is that work as one thing, from its start to a
// checked finish. Everything that happens to it is an entry in its ledger, which is only ever appended to.
// Where the job stands now, its standing, is a fold of the ledger: job.Apply over the entries, in order.
// Nothing else is true about a job.
//
// Words are used for one idea each, in Go, SQL, JSON and on the screen: job, session, step, receipt,
// instruction, decision, open item, dead end, working set, ledger, entry, position, safe point, lease,
// fencing token, handover, brief, standing, check, outcome, lesson, measure, pause reason.
//
// # How it is built
//
// One pure package says what is true of a job. Edges around it touch the world. One door changes a job.
// Surfaces only translate. Data flows one way:
//
//	surface → tracker → (pure rule) → store
//
// Packages stand on floors and import only lower ones, never sideways; two packages of one floor are
// composed by the floor above. arch_test.go holds the table, says why a package exists that you would not
// expect, and fails when a package climbs, reads a clock it should have been given, or makes redacted text
// by itself. Start reading there; then read upwards:
//
//	floor 0   job        the nouns, Apply, Standing, and every rule: binding, leases, keys, checks
//	          redact     the one funnel that credentials do not pass; writers take only what it makes
//	          process    start, identify and end processes and their trees
//	          config     settings and where each came from
//	floor 1   store      ledgers in SQLite: append, read, verify; one transaction, one time
//	          handover   from entries to a brief of 2,000 tokens, and the examination of it
//	          lesson     what an outcome teaches the next job
//	          agent      the shape through which every agent is seen
//	          cost       tokens to money
//	          git        the git command, with an environment that nothing leaks into
//	          check      runs acceptance commands and reads their counts
//	          transcript opens agents' files read-only, by offset
//	          spool      what a hook could not record, until a command can
//	floor 2   agent/NAME one agent each: decode its hooks, parse its transcript, say its limits
//	          workspace  safe points: a commit of everything, under a ref of its own, and the way back
//	floor 3   tracker    every use case: one method, one transaction, one now
//	floor 4   hook       an agent calls us; whatever happens to us, it goes on
//	          runner     we call an agent, session after session
//	          scripted   the built-in agent, a real program
//	floor 5   cli        one file a command
//	          demo       the story that a visitor sees
//	floor 6   cmd/duplex os.Exit, and nothing else worth reading
//
// The noun names the file on every floor. Leases: job/lease.go is the rule, store/leases.go the SQL,
// tracker/lease.go the use case, cli/take.go the command.
//
// # Three flows to follow
//
// Observe. An agent that somebody started calls `duplex hook NAME` with JSON on standard input. cli hands it
// to hook, which lets the agent's adapter decode it, asks tracker to record it in one transaction, and
// answers: nothing, context for the agent, or a denial. A hook never breaks its agent. What it cannot record
// goes to the spool and it exits with 0; only a session that lost its lease is denied, and only acts.
//
// Drive. `duplex run` claims the lease, takes a safe point, builds the brief and starts an agent without a
// person. Steps and usage stream in. Near the limit of the context it hands over, takes a safe point and
// starts the next session, with the same agent or another. A crash of anything is met by whichever runner
// comes after the lease ran out.
//
// Finish. A claim of the agent is only a claim. `duplex finish` brings the last safe point into a clean
// folder, with the protected files as they were agreed, runs every check with a limit and a scrubbed
// environment, compares the inventory of tests, and writes the outcome. The outcome writes lessons.
//
// # Where a change belongs
//
//   - A rule about jobs ("a guest is never denied"): job, with a table test, and a planted fault in its
//     simulation if it is about leases, folding or keys.
//   - A new kind of entry: job first, and never changed afterwards: the format is for ever. Then Apply, then
//     the rows that store derives from it.
//   - A new command: a method of tracker, a file in cli, a story in cli/testdata.
//   - A setting: a field and a row in config; inner packages are handed the value.
//   - A new agent: a folder under agent, a line in agent/all, recorded transcripts in its testdata.
//   - What agents are told: handover. It reads entries only, so first ask whether the entry has it.
//   - A kind of credential: redact, and a line in its corpus of things that are none.
//   - A model's price: a new row in cost/table.go, with its day.
//
// # Running it
//
//	go run ./cmd/duplex demo       the whole story, on a real repository, in under a minute
//	go run ./internal/suite        every check and every test, as CI runs them
//
// CONTRIBUTING.md says how a change is made and judged; docs/privacy.md what is read, kept, and never kept.
package duplex
