// Package live is where Duplex meets real agents: stories in which the pinned agent
// itself runs, with its own hooks, transcripts, compactions and crashes, while only
// its model is a script (fakemodel/play). They hold what no recorded sample can:
// that a promise is kept by the agent as it is today.
//
// It has tests and no code of its own. A story reads what came of it as a person
// would, with duplex's commands and their JSON; the parts are tested where they
// live.
package live
