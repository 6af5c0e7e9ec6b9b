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
// fencing token, handover (what a leaving session leaves), brief (what an arriving one is given), standing,
// check, outcome, lesson, measure, pause reason.
//
// # How it is built
//
// One pure package says what is true of a job. Edges around it touch the world. One door changes a job.
// Surfaces only translate. Data flows one way:
//
//	surface → tracker → (pure rule) → store
//
// Packages stand on floors and import only lower ones, never sideways; two packages of one floor are
// composed by the floor above. All of them, from the ground up:
//
//	floor 0   job        the nouns, Apply, Standing, and every rule: binding, leases, keys, the finish
//	          redact     the one funnel that credentials do not pass; writers take only what it makes
//	          process    start, identify and end processes and their trees
//	          config     settings and where each came from
//	          query      what a person looks for, by words
//	floor 1   store      ledgers in SQLite: append, read, verify; one transaction, one time
//	          handover   from entries to a brief of 2,000 tokens, and the examination of it
//	          agent      the shape through which every agent is seen
//	          cost       tokens to money
//	          git        the git command, with an environment that nothing leaks into
//	          check      runs acceptance commands, lists tests, compares two lists
//	          transcript opens agents' files read-only, by offset
//	          spool      what hooks heard, until somebody takes it in
//	floor 2   agent/NAME one agent each: decode its hooks, parse its transcript, say its limits
//	          workspace  safe points: a commit of everything, under a ref of its own, and the way back
//	          install    puts hooks where agents look for them, and takes them out to the byte
//	floor 3   tracker    every use case: one method, one transaction, one now
//	          agent/all  which agents there are
//	floor 4   hook       an agent calls us; whatever happens to us, it goes on
//	          mcpserver  an agent calls our tools, over MCP
//	          runner     we call an agent, session after session
//	          scripted   the built-in agent, a real program
//	floor 5   cli        the commands: options in, one use case, a page or JSON out
//	          demo       the story that a visitor sees
//	          fakemodel/play  a model server that plays a script, for tests
//	floor 6   cmd/duplex os.Exit, and nothing else worth reading
//	          suite      the one test command
//	          long       what takes the full figures
//	          fakemodel  the scripted model server, for anyone
//	          live       stories in which a real agent runs, tests only
//
// arch_test.go holds this table, with rows for what is still to come. It fails when a package climbs, reads
// a clock it should have been given, or makes redacted text by itself.
//
// Most nouns name their file on every floor. Read along one row, and you have seen every layer:
//
//	            rule                  kept in               use case             command
//	lease       job/lease.go          store/lease.go        tracker/lease.go     cli/work.go (take)
//	check       job/finish.go         check/check.go        tracker/check.go     cli/finish.go
//	finish      job/finish.go         –                     tracker/finish.go    cli/finish.go
//	safe point  –                     workspace/keep.go     tracker/keep.go      cli/safepoint.go
//	going back  –                     workspace/restore.go  tracker/keep.go      cli/safepoint.go
//	brief       handover/build.go     –                     tracker/brief.go     cli/brief.go
//	cost        cost/cost.go          store/spend.go        tracker/cost.go      cli/cost.go
//	decision…   job/rows.go           store/row.go          tracker/item.go      cli/record.go
//	pause       job/payload.go        –                     tracker/item.go      cli/record.go
//	lesson      –                     –                     tracker/finish.go    cli/lessons.go
//	binding     job/binding.go        store/session.go      tracker/observe.go   cli/hook.go
//	fill        job/fill.go           –                     tracker/level.go     hook/aside.go
//	setup       –                     install/record.go     –                    cli/setup.go
//	standing    job/standing.go       store/ledger.go       tracker/show.go      cli/show.go
//	recall      query/find.go         store/search.go       tracker/recall.go    cli/recall.go
//
// # Three flows to follow
//
// Observe. An agent that somebody started calls `duplex hook NAME` with JSON on standard input. cli hands it
// to hook, which lets the agent's adapter decode it, asks tracker to record it in one transaction, and
// answers: nothing, context for the agent, or a denial. After a tool nearly every hook only has something to
// report, so it leaves the store alone: it spools the call, reads in the transcript how full the context is,
// and is gone in a few milliseconds; the next hook that has to ask, or any command, takes it in
// (hook/aside.go). A hook never breaks its agent. What it cannot record is spooled too and it exits with 0;
// only a session that lost its lease is denied, and only acts.
//
// Drive. `duplex run` claims the lease, takes a safe point and starts an agent without a person; the agent's
// own hooks give it the brief and record its steps, as for anyone. Near the limit of the context they hand
// over, and runner starts the next session, with the same agent or another. A crash of anything is met by
// whichever runner comes after the lease ran out.
//
// Finish. A claim of the agent is only a claim. `duplex finish` brings the last safe point into a clean
// folder, with the protected files as they were agreed, runs every check with a limit and a scrubbed
// environment, compares the inventory of tests, and writes the outcome. The outcome writes lessons.
//
// # Where a change belongs
//
//   - A rule about jobs ("a guest is never denied"): job, with a table test, and a planted fault in its
//     simulation if it is about leases, folding or keys.
//   - A new kind of entry: job/entry.go and job/payload.go first, and never changed afterwards: the format is
//     for ever. Then Apply, then the rows that store derives from it, then how the log tells it.
//   - A new pause reason: beside the others in job/payload.go; the place it puts a job in is
//     job/standing.go; who pauses for it is runner or tracker/item.go.
//   - What a finish demands: job/finish.go judges what it is given; check finds out; tracker/check.go and
//     tracker/finish.go bring the two together. A story that fails without the rule goes with it.
//   - Something going wrong when a workspace is kept or brought back: workspace, with a real repository in
//     its test; when the wrong safe point was chosen or the ledger says otherwise, tracker/keep.go.
//   - A new command: a method of tracker, a file in cli, a story in cli/testdata.
//   - Something to be shown, a column, a line, a sign: cli, once tracker hands it out. With a new field of
//     JSON, docs/json.md. A sum over a ledger that does not exist yet is store's.
//   - A setting: a field and a row in config; inner packages are handed the value.
//   - A new agent: a folder under agent, a line in agent/all, recorded transcripts in its testdata.
//   - What agents are told: handover. It reads entries only, so first ask whether the entry has it.
//   - A kind of credential: redact, with a row of what it takes and, in guard_test.go, of what must stay.
//   - A model's price: a new row in cost/table.go, with its day.
//
// # Running it
//
//	go run ./cmd/duplex demo       the whole story, on a real repository, in under a minute
//	go run ./internal/suite        every check and every test, as CI runs them
//	go run ./internal/long         the figures that docs/figures.md quotes, at full size
//
// CONTRIBUTING.md says how a change is made and judged; docs/stories.md lists the stories that the tests play;
// docs/privacy.md says what is read, kept, and never kept.
package duplex
