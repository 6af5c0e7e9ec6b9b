-- Kept small: every hook reads it at its start.

CREATE TABLE meta (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

-- One row a job: the head of its chain, what jobs are listed and claimed by, and
-- where it stands. Every append writes it, so what is indexed is what seldom changes.
CREATE TABLE job (
  n          INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  short      TEXT NOT NULL,
  position   INTEGER NOT NULL,
  head       BLOB NOT NULL,
  opened     INTEGER NOT NULL,
  updated    INTEGER NOT NULL,
  done       INTEGER NOT NULL,
  unnamed    INTEGER NOT NULL,
  parent     TEXT NOT NULL,
  repository TEXT NOT NULL,
  holder     TEXT NOT NULL,
  token      INTEGER NOT NULL,
  renewed    INTEGER NOT NULL,
  standing   TEXT NOT NULL
);
CREATE INDEX job_done ON job(done, unnamed);
CREATE INDEX job_parent ON job(parent) WHERE parent <> '';
CREATE INDEX job_repository ON job(repository) WHERE repository <> '';

-- Names once given, never given again: short names and, for children, k7m2/2.
CREATE TABLE short (
  name TEXT PRIMARY KEY,
  job  TEXT NOT NULL
) WITHOUT ROWID;

-- The ledger. payload and salt are null once scrubbed; digest then keeps the chain.
CREATE TABLE entry (
  n           INTEGER PRIMARY KEY,
  job         TEXT NOT NULL,
  position    INTEGER NOT NULL,
  id          TEXT NOT NULL,
  kind        TEXT NOT NULL,
  v           INTEGER NOT NULL,
  recorded_at INTEGER NOT NULL,
  happened_at INTEGER NOT NULL,
  time_source TEXT NOT NULL,
  workspace   TEXT NOT NULL,
  session     TEXT NOT NULL,
  author      TEXT NOT NULL,
  author_name TEXT NOT NULL,
  token       INTEGER NOT NULL,
  machine     TEXT NOT NULL,
  machine_seq INTEGER NOT NULL,
  key         TEXT NOT NULL,
  late        INTEGER NOT NULL,
  guest       INTEGER NOT NULL,
  salt        BLOB,
  payload     TEXT,
  digest      BLOB,
  hash        BLOB NOT NULL,
  mac         BLOB,
  key_id      TEXT NOT NULL,
  UNIQUE (job, position)
);
CREATE UNIQUE INDEX entry_id ON entry(id);
CREATE UNIQUE INDEX entry_key ON entry(key) WHERE key <> '';
-- Kinds that are rare in a long ledger are found without reading past the others.
CREATE INDEX entry_rare ON entry(job, kind, position) WHERE kind NOT IN ('step', 'touched', 'spent');

CREATE TABLE item (
  n        INTEGER PRIMARY KEY,
  job      TEXT NOT NULL,
  id       TEXT NOT NULL,
  kind     TEXT NOT NULL,
  state    TEXT NOT NULL,
  position INTEGER NOT NULL,
  row      TEXT NOT NULL,
  UNIQUE (job, id)
);
CREATE INDEX item_kind ON item(job, kind, state, position);

CREATE TABLE work (
  job       TEXT NOT NULL,
  kind      TEXT NOT NULL,
  workspace TEXT NOT NULL,
  name      TEXT NOT NULL,
  row       TEXT NOT NULL,
  PRIMARY KEY (job, kind, workspace, name)
) WITHOUT ROWID;

CREATE TABLE sitting (
  job   TEXT NOT NULL,
  id    TEXT NOT NULL,
  agent TEXT NOT NULL,
  row   TEXT NOT NULL,
  PRIMARY KEY (job, id)
) WITHOUT ROWID;

-- The last word on what each message of a provider cost, store-wide. An empty job:
-- the job that paid was erased, and another still holds a copy of the message.
CREATE TABLE spend (
  key            TEXT PRIMARY KEY,
  job            TEXT NOT NULL,
  session        TEXT NOT NULL,
  at             INTEGER NOT NULL,
  position       INTEGER NOT NULL,
  message        TEXT NOT NULL,
  model          TEXT NOT NULL,
  input          INTEGER NOT NULL,
  cache_write_5m INTEGER NOT NULL,
  cache_write_1h INTEGER NOT NULL,
  cache_read     INTEGER NOT NULL,
  output         INTEGER NOT NULL,
  reasoning      INTEGER NOT NULL,
  pico           INTEGER,
  price          TEXT NOT NULL,
  estimate       INTEGER NOT NULL,
  purpose        TEXT NOT NULL,
  class          TEXT NOT NULL,
  context        INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX spend_job ON spend(job, session, position);

-- Sessions of agents, also those that belong to no job. key is a digest of
-- (agent, its session id), process one of (host, boot, pid, start).
CREATE TABLE session (
  id      TEXT PRIMARY KEY,
  key     TEXT NOT NULL UNIQUE,
  job     TEXT NOT NULL,
  process TEXT NOT NULL,
  row     TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX session_job ON session(job) WHERE job <> '';
CREATE INDEX session_process ON session(process) WHERE process <> '';

CREATE TABLE workspace (
  id   TEXT PRIMARY KEY,
  key  TEXT NOT NULL,
  row  TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX workspace_key ON workspace(key);
CREATE TABLE job_workspace (
  workspace TEXT NOT NULL,
  job       TEXT NOT NULL,
  PRIMARY KEY (workspace, job)
) WITHOUT ROWID;

-- Receipts too long for an entry, named by their content.
CREATE TABLE blob (
  n      INTEGER PRIMARY KEY,
  digest TEXT NOT NULL UNIQUE,
  size   INTEGER NOT NULL,
  data   BLOB NOT NULL
);
CREATE TABLE blob_ref (
  digest TEXT NOT NULL,
  job    TEXT NOT NULL,
  PRIMARY KEY (digest, job)
) WITHOUT ROWID;
