#include "grader/batch/store/schema.h"

#include <fmt/format.h>

#include <array>

namespace rooflab {
namespace {

/// By what a platform takes feedback on a submission back. The names are filled when the class is
/// taken in the next time.
constexpr const char* kReturnNames = R"sql(
ALTER TABLE submissions ADD COLUMN platform TEXT NOT NULL DEFAULT '';  -- 'canvas', 'moodle', 'gradescope', 'git'
ALTER TABLE submissions ADD COLUMN return_name TEXT NOT NULL DEFAULT '';
)sql";

/// Step i brings schema i to i + 1. A step that was ever released is never changed: a new one is
/// added.
constexpr std::array kSteps = {
    R"sql(
CREATE TABLE settings (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE students (
  key TEXT PRIMARY KEY,
  position INTEGER NOT NULL,          -- in the roster; those who are not on it follow
  name TEXT NOT NULL,
  email TEXT NOT NULL,
  login TEXT NOT NULL,
  section TEXT NOT NULL,
  sis_id TEXT NOT NULL,
  canvas_id TEXT NOT NULL,
  moodle_identifier TEXT NOT NULL,
  on_roster INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE submissions (
  id TEXT PRIMARY KEY,
  student TEXT NOT NULL REFERENCES students(key),
  called TEXT NOT NULL,               -- its name in the folder
  received INTEGER,                   -- seconds since 1970
  marked_late INTEGER NOT NULL,
  counts INTEGER NOT NULL,            -- 0: another submission of the student counts
  present INTEGER NOT NULL,           -- 0: no longer in the folder
  problem TEXT NOT NULL,              -- why nothing could be taken from it
  notes TEXT NOT NULL,                -- how sense was made of it: a JSON array of sentences
  doubts TEXT NOT NULL                -- what looks wanted and was not taken: likewise
) WITHOUT ROWID;

CREATE TABLE sources (                -- what was handed in, each different set of files once
  source TEXT NOT NULL,               -- SHA-256 of part, names and contents
  path TEXT NOT NULL,                 -- "part1-metrics/gemv.cu"
  content BLOB NOT NULL,
  PRIMARY KEY (source, path)
) WITHOUT ROWID;

CREATE TABLE handed_in (              -- what a submission holds now
  submission TEXT NOT NULL REFERENCES submissions(id),
  part INTEGER NOT NULL,
  source TEXT NOT NULL,
  PRIMARY KEY (submission, part)
) WITHOUT ROWID;

CREATE TABLE gradings (               -- a source graded once; equal submissions share one
  name TEXT PRIMARY KEY,
  grading_key TEXT NOT NULL,          -- SHA-256 of all that the outcome depends on
  run INTEGER NOT NULL,               -- 2 and up: graded again on request
  part INTEGER NOT NULL,
  source TEXT NOT NULL,
  device TEXT NOT NULL,
  seed INTEGER NOT NULL,
  versions TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('pending', 'graded', 'fault')),
  why TEXT NOT NULL,                  -- for a fault
  score REAL,                         -- without bonus
  max_score REAL,
  bonus REAL,
  evidence TEXT,                      -- the whole result: verdicts, messages, counters, sandbox
  build_s REAL,
  run_s REAL,
  graded_at INTEGER                   -- seconds since 1970
) WITHOUT ROWID;

CREATE TABLE task_results (           -- from the evidence, for queries
  grading TEXT NOT NULL REFERENCES gradings(name),
  position INTEGER NOT NULL,
  task TEXT NOT NULL,
  title TEXT NOT NULL,
  bonus INTEGER NOT NULL,
  verdict TEXT NOT NULL,
  score REAL NOT NULL,
  max_score REAL NOT NULL,
  codes TEXT NOT NULL,                -- of the diagnostics, separated by spaces
  time_us REAL,                       -- of the first timed case
  efficiency REAL NOT NULL,
  roofline_us REAL NOT NULL,
  flops REAL NOT NULL,
  bytes REAL NOT NULL,
  peak TEXT NOT NULL,
  PRIMARY KEY (grading, position)
) WITHOUT ROWID;

CREATE TABLE grades (                 -- which grading a submission has; the highest revision counts
  submission TEXT NOT NULL REFERENCES submissions(id),
  part INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  grading TEXT NOT NULL REFERENCES gradings(name),
  PRIMARY KEY (submission, part, revision)
) WITHOUT ROWID;

CREATE TABLE manual_points (          -- given by people; the highest revision counts
  student TEXT NOT NULL REFERENCES students(key),
  part INTEGER NOT NULL,
  item TEXT NOT NULL,
  revision INTEGER NOT NULL,
  points REAL NOT NULL,
  max_points REAL,
  comment TEXT NOT NULL,
  given_by TEXT NOT NULL,
  imported_at INTEGER NOT NULL,
  PRIMARY KEY (student, part, item, revision)
) WITHOUT ROWID;
)sql",
    R"sql(
ALTER TABLE task_results ADD COLUMN lost_groups TEXT NOT NULL DEFAULT '';  -- separated by spaces
)sql",
    R"sql(
-- What a grading was out of besides max_score; NULL where an older grader made it.
ALTER TABLE gradings ADD COLUMN max_manual REAL;
-- Whole stories of hidden cases that failed (JSON): for instructors alone, in no output for students.
ALTER TABLE gradings ADD COLUMN revealed TEXT;

CREATE TABLE hand_questions (         -- free text that a grading left to a person
  grading TEXT NOT NULL REFERENCES gradings(name),
  position INTEGER NOT NULL,
  item TEXT NOT NULL,
  max_points REAL NOT NULL,
  PRIMARY KEY (grading, position)
) WITHOUT ROWID;
)sql",
    R"sql(
-- A seed has 128 bits: text, which no column of numbers may round.
ALTER TABLE gradings RENAME COLUMN seed TO seed_number;
ALTER TABLE gradings ADD COLUMN seed TEXT NOT NULL DEFAULT '0';
UPDATE gradings SET seed = printf('%llu', seed_number);
ALTER TABLE gradings DROP COLUMN seed_number;
)sql",
    R"sql(
ALTER TABLE hand_questions ADD COLUMN answer TEXT;  -- as the worker read it; NULL where an older one did not
)sql",
    R"sql(
-- A result is kept once, as evidence; for queries there is a view of it. Evidence that is no JSON
-- has no rows here.
DROP TABLE task_results;
CREATE VIEW task_results AS
SELECT
  name AS grading,
  task.key AS position,
  json_extract(task.value, '$.id') AS task,
  json_extract(task.value, '$.title') AS title,
  json_extract(task.value, '$.bonus') AS bonus,
  json_extract(task.value, '$.verdict') AS verdict,
  json_extract(task.value, '$.score') AS score,
  json_extract(task.value, '$.max_score') AS max_score,
  (SELECT coalesce(group_concat(json_extract(value, '$.code'), ' '), '')
   FROM json_each(task.value, '$.diagnostics')) AS codes,
  (SELECT coalesce(group_concat(json_extract(value, '$.name'), ' '), '')
   FROM json_each(task.value, '$.groups')
   WHERE json_extract(value, '$.score') < json_extract(value, '$.max_score')) AS lost_groups,
  json_extract(task.value, '$.timings[0].time_us') AS time_us,
  coalesce(json_extract(task.value, '$.timings[0].efficiency'), 0) AS efficiency
FROM gradings,
  json_each(CASE WHEN json_valid(evidence) THEN evidence ELSE '{}' END, '$.result.tasks') AS task;
)sql",
    R"sql(
-- Whose numbers the questions may have been asked with (a JSON array; empty where none differ), and the
-- numbers that were answered (a JSON object by question; NULL where an older worker did not say).
ALTER TABLE gradings ADD COLUMN students TEXT NOT NULL DEFAULT '[]';
ALTER TABLE gradings ADD COLUMN numbers TEXT;
ALTER TABLE hand_questions ADD COLUMN bonus INTEGER NOT NULL DEFAULT 0;
)sql",
    R"sql(
-- What people write when they review a graded class (grader review). Nothing here is ever deleted: what is
-- taken back is marked so, and review_log has who did what, when, and what was there before.
ALTER TABLE manual_points ADD COLUMN withdrawn INTEGER NOT NULL DEFAULT 0;  -- 1: taken back; none count then

CREATE TABLE review_comments (
  comment INTEGER PRIMARY KEY,
  part INTEGER NOT NULL,
  source TEXT NOT NULL,               -- the set of files whose lines are meant
  path TEXT NOT NULL,                 -- '': the submission as a whole
  line INTEGER NOT NULL,              -- from 1; 0: no line of its own
  text TEXT NOT NULL,
  written_by TEXT NOT NULL,           -- who wrote it last, and when
  written_at INTEGER NOT NULL,
  version INTEGER NOT NULL,           -- 1 and up, by one with every change
  removed INTEGER NOT NULL
);
CREATE TABLE review_comment_students ( -- whose submission it is about: partners have it together
  comment INTEGER NOT NULL REFERENCES review_comments(comment),
  student TEXT NOT NULL REFERENCES students(key),
  PRIMARY KEY (comment, student)
) WITHOUT ROWID;

CREATE TABLE rubric_items (           -- what a question of free text earns, or loses, points for
  rubric_item INTEGER PRIMARY KEY,
  part INTEGER NOT NULL,
  item TEXT NOT NULL,                 -- the question
  position INTEGER NOT NULL,
  text TEXT NOT NULL,
  points REAL NOT NULL,
  version INTEGER NOT NULL,
  removed INTEGER NOT NULL
);
CREATE TABLE rubric_grades (          -- an answer that was graded by the rubric
  student TEXT NOT NULL REFERENCES students(key),
  part INTEGER NOT NULL,
  item TEXT NOT NULL,
  revision INTEGER NOT NULL,          -- of manual_points, that came of it; a higher one has replaced it
  adjustment REAL NOT NULL,           -- beside the chosen items
  comment TEXT NOT NULL,              -- beside their texts
  PRIMARY KEY (student, part, item)
) WITHOUT ROWID;
CREATE TABLE rubric_choices (
  student TEXT NOT NULL,
  part INTEGER NOT NULL,
  item TEXT NOT NULL,
  rubric_item INTEGER NOT NULL REFERENCES rubric_items(rubric_item),
  PRIMARY KEY (student, part, item, rubric_item)
) WITHOUT ROWID;

CREATE TABLE review_log (
  entry INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,                -- seconds since 1970
  done_by TEXT NOT NULL,
  what TEXT NOT NULL,                 -- "comment changed"
  students TEXT NOT NULL,             -- a JSON array of keys; empty where it is about no one
  part INTEGER NOT NULL,
  subject TEXT NOT NULL,              -- a task, a question, a line
  before TEXT NOT NULL,
  after TEXT NOT NULL
);
)sql", kReturnNames,
    R"sql(
-- Evidence is long, and a class is read without it: it has a table of its own. Nothing is lost.
CREATE TABLE evidence (
  grading TEXT PRIMARY KEY REFERENCES gradings(name),
  evidence TEXT NOT NULL,             -- the whole result: verdicts, messages, counters, sandbox
  revealed TEXT NOT NULL              -- see before: hidden cases that failed, for instructors alone
);
INSERT INTO evidence
SELECT name, evidence, coalesce(revealed, '') FROM gradings WHERE evidence NOTNULL;
DROP VIEW task_results;
ALTER TABLE gradings DROP COLUMN evidence;
ALTER TABLE gradings DROP COLUMN revealed;
CREATE VIEW task_results AS
SELECT
  grading,
  task.key AS position,
  json_extract(task.value, '$.id') AS task,
  json_extract(task.value, '$.title') AS title,
  json_extract(task.value, '$.bonus') AS bonus,
  json_extract(task.value, '$.verdict') AS verdict,
  json_extract(task.value, '$.score') AS score,
  json_extract(task.value, '$.max_score') AS max_score,
  (SELECT coalesce(group_concat(json_extract(value, '$.code'), ' '), '')
   FROM json_each(task.value, '$.diagnostics')) AS codes,
  (SELECT coalesce(group_concat(json_extract(value, '$.name'), ' '), '')
   FROM json_each(task.value, '$.groups')
   WHERE json_extract(value, '$.score') < json_extract(value, '$.max_score')) AS lost_groups,
  json_extract(task.value, '$.timings[0].time_us') AS time_us,
  coalesce(json_extract(task.value, '$.timings[0].efficiency'), 0) AS efficiency
FROM evidence,
  json_each(CASE WHEN json_valid(evidence) THEN evidence ELSE '{}' END, '$.result.tasks') AS task;

-- Which state of the course replays the grade: a commit; empty where nobody knew it.
ALTER TABLE gradings ADD COLUMN checkout TEXT NOT NULL DEFAULT '';
)sql",
    R"sql(
CREATE TABLE regrade_requests (       -- somebody asks for another look at a grade
  request INTEGER PRIMARY KEY,
  student TEXT NOT NULL REFERENCES students(key),
  part INTEGER NOT NULL,
  task TEXT NOT NULL,                 -- '': the part as a whole
  why TEXT NOT NULL,
  asked_by TEXT NOT NULL,
  asked_at INTEGER NOT NULL,          -- seconds since 1970
  old_score REAL,                     -- of the grader, when it was asked; NULL where nothing was graded
  state TEXT NOT NULL CHECK (state IN ('open', 'granted', 'declined')),
  reason TEXT NOT NULL,               -- of the decision, which the student reads
  decided_by TEXT NOT NULL,
  decided_at INTEGER,
  regrade INTEGER NOT NULL,           -- 1: the next batch grades the submission again
  grading TEXT NOT NULL,              -- that was made for it; '' for none yet
  version INTEGER NOT NULL            -- 1 and up, by one with every change
);
)sql",
    R"sql(
-- What counted when the points were given, so that a text which has been replaced since is read
-- again; NULL where nothing was graded, or an older grader wrote the row.
ALTER TABLE manual_points ADD COLUMN grading TEXT;
)sql",
    R"sql(
-- Of several submissions of a student a person chooses where no time says which is the newest. Before
-- that none of these candidates counts.
ALTER TABLE submissions ADD COLUMN candidate INTEGER NOT NULL DEFAULT 0;

CREATE TABLE submission_choices (
  student TEXT PRIMARY KEY REFERENCES students(key),
  submission TEXT NOT NULL,           -- the one that counts
  among TEXT NOT NULL,                -- all that were chosen from: a JSON array
  chosen_by TEXT NOT NULL,
  chosen_at INTEGER NOT NULL,         -- seconds since 1970
  version INTEGER NOT NULL            -- 1 and up, by one with every change
) WITHOUT ROWID;
)sql",
};

int schema_of(Database& database) {
  Statement statement(database, "PRAGMA user_version");
  statement.step();
  return static_cast<int>(statement.integer());
}

}  // namespace

int newest_schema() { return static_cast<int>(kSteps.size()); }

void migrate(Database& database) { migrate_to(database, newest_schema()); }

void migrate_to(Database& database, int schema) {
  const int from = schema_of(database);
  if (from > newest_schema()) {
    throw DatabaseError(fmt::format(
        "the batch's database has schema {}, and this grader knows none above {}; use the grader "
        "that made it, or a newer one",
        from, newest_schema()));
  }
  if (from >= schema) return;
  Transaction transaction(database);
  // Two programs may open an older database at once; the second finds the work done.
  const int now = schema_of(database);
  for (int step = now; step < schema; ++step) {
    database.execute(kSteps.at(static_cast<std::size_t>(step)));
  }
  if (now < schema) database.execute(fmt::format("PRAGMA user_version = {}", schema));
  transaction.commit();
}

}  // namespace rooflab
