// Package store keeps ledgers in one SQLite file: entries, the standing folded
// from them, and the rows beside it, written together or not at all.
//
// It exists so that nothing acknowledged is lost and a question about now costs a
// few row reads however long a ledger is. It is no place for rules: what an entry
// means is job's, who may append it is the tracker's. It gives each entry its
// position, chains it, folds it with job.Apply, and writes what comes out.
//
// Nothing gets in that has not passed package redact: payloads, sessions,
// workspaces and blobs are taken as redact.JSON and redact.Text only. Envelopes
// hold no free text.
//
// Where to look: open.go (which database, and what may be wrong with it), tx.go
// (transactions and what is written at their end), append.go (the one way in),
// then one file a noun. verify.go, salvage.go and erase.go are for a ledger that
// is doubted, damaged or to be removed.
//
// SQLite, by measurement: write-ahead log, BEGIN IMMEDIATE, synchronous NORMAL for
// steps and FULL for what must outlive a power cut, ordinary rowid tables for
// large rows. A hook exits without Close: closing last would checkpoint, which is
// three fsyncs in the agent's time. The driver is spoken to directly, since a
// hook has one connection and no use for a pool.
package store
