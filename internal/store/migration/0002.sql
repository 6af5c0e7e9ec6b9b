-- The words of each entry, by its row number in entry: nothing of a text but which
-- words it has, so that nothing is kept twice. Words come folded, and with tags that
-- no text has: @kind and #job.
CREATE VIRTUAL TABLE search USING fts5(words, content='', contentless_delete=1, detail=none, tokenize="ascii tokenchars '@#'");

-- Entries up to this row number are put in by commands that come later, in batches.
INSERT INTO meta SELECT 'index due', max(n) FROM entry HAVING max(n) > 0;
