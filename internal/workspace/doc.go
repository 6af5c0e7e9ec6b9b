// Package workspace is a folder where work happens: its id, its state, its
// safe points and the way back to them.
//
// A safe point is a commit of everything in the folder that git would not
// ignore, with exact bytes, kept under refs/duplex/<job>/<n>. It is made with
// a git dir of our own inside the user's (<gitdir>/duplex: configuration,
// index, attributes that switch every conversion off), so that the user's
// HEAD, index, hooks, filters and files have no part in it. New objects are
// first written to a quarantine, so that a safe point that fails or is killed
// leaves nothing behind, and so that the list of objects it added is exact,
// which is what removing it later needs.
//
// Going back keeps the present first, moves aside what it replaces, and then
// merges two trees, so that only what differs is touched.
//
// The package does not know of jobs, ledgers or leases beyond the plain
// values it is given, and it runs no command but git.
package workspace
