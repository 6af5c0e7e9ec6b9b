// Package handover says what the next session must know, and proves that it was
// told: Build makes a bounded packet from a job's standing, rows and newest
// entries, Examine asks the packet questions that code of its own made from the
// raw entries, and Repaired forces in what an answer missed.
//
// It is pure, calls no model and reads no summary: every packet is built from the
// ledger, so that the tenth handover of a job carries as much as the first. It
// opens nothing and redacts nothing: what stands in a ledger has passed redaction.
// Who looks at the workspace, and when a handover is due, is a floor above.
//
// The choices and figures (shares, base rates, list sizes) are measured on real
// sessions; where a number looks odd, it was fitted.
package handover
