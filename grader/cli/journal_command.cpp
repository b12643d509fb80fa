#include "grader/cli/journal_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ostream>
#include <vector>

#include "grader/cli/course_progress.h"
#include "grader/cli/typed_commands.h"
#include "grader/pipeline/grade.h"
#include "grader/report/text.h"
#include "grader/spec/files.h"
#include "grader/spec/journal.h"

namespace rooflab {
namespace {

namespace fs = std::filesystem;

/// A part's journal, where there is one.
struct Kept {
  PartSpec part;
  fs::path file;
  Journal journal;
};

std::vector<Kept> journals_in(const fs::path& submission, const Installation& installation) {
  std::vector<Kept> all;
  for (PartSpec& part : load_parts(installation.labs(), installation.solutions())) {
    const fs::path folder = submission / part.directory;
    auto journal = read_journal(folder, part);
    if (!journal) continue;
    all.push_back({std::move(part), folder / kJournalFile, std::move(*journal)});
  }
  return all;
}

std::string runs_words(std::size_t runs) {
  return fmt::format("{} {}", runs, runs == 1 ? "run" : "runs");
}

std::string run_line(const JournalRun& run) {
  std::vector<std::string> codes;
  for (const simgpu::Code& code : run.codes) codes.push_back(code.text());
  return fmt::format("  {}  {}  {}  {} of {}  {} {}  {}", utc_time(run.time), run.task,
                     verdict_words(run.verdict), format_points(run.score),
                     format_points(run.max_score), run.hints, run.hints == 1 ? "hint" : "hints",
                     fmt::join(codes, " "));
}

int show(std::ostream& out, const fs::path& submission, const std::vector<Kept>& journals) {
  const bool is_on = is_journal_on(submission);
  out << fmt::format("The journal is {}: {}.\n", is_on ? "on" : "off",
                     is_on ? "the grader notes each run of a changed file until its task passes"
                           : "nothing is noted");
  for (const Kept& kept : journals) {
    out << fmt::format("Part {}, {} in {}{}\n", kept.part.number,
                       runs_words(kept.journal.runs.size()), typed_path(kept.file),
                       is_full(kept.journal) ? ", which is full" : "");
    for (const JournalRun& run : kept.journal.runs) out << one_line(run_line(run)) << '\n';
  }
  print_wrapped(
      out, "",
      "That is all that a journal has: no code, no path and no name, and no points depend "
      "on it. While it is on, hand-in packs it, and --no-journal leaves it out.");
  out << fmt::format("{} journal {}\n", typed_program(),
                     is_on ? "off ends it; off --delete removes the runs, too" : "on begins it");
  return 0;
}

int turn_off(std::ostream& out, const JournalOptions& options, const fs::path& submission,
             const std::vector<Kept>& journals) {
  set_journal(submission, false);
  out << "The journal is off: nothing is noted any more, and hand-in leaves it out.\n";
  for (const Kept& kept : journals) {
    const std::string runs = runs_words(kept.journal.runs.size());
    if (!options.remove) {
      out << fmt::format("{} in {} stay; {} journal off --delete removes them\n", runs,
                         typed_path(kept.file), typed_program());
      continue;
    }
    std::error_code error;
    fs::remove(kept.file, error);
    if (error) {
      throw FileError(fmt::format("cannot remove {}: {}; remove it by hand", kept.file.string(),
                                  error.message()));
    }
    out << fmt::format("{} in {} are removed\n", runs, typed_path(kept.file));
  }
  return 0;
}

}  // namespace

int keep_journal(std::ostream& out, const JournalOptions& options,
                 const Installation& installation) {
  const fs::path submission =
      options.submission.empty() ? installation.starter() : fs::path(options.submission);
  if (!fs::is_directory(submission)) {
    throw UsageError(
        fmt::format("there is no folder {}; name yours with --submission", submission.string()));
  }
  if (options.remove && options.what != "off") {
    throw UsageError("--delete goes with off, as in grader journal off --delete");
  }
  const std::vector<Kept> journals = journals_in(submission, installation);
  if (options.what == "off") return turn_off(out, options, submission, journals);
  if (options.what == "on") set_journal(submission, true);
  return show(out, submission, journals);
}

std::string note_in_journal(const fs::path& submission, const PartSpec& part,
                            const GradeResult& result, const std::set<std::string>& unchanged,
                            std::int64_t time) {
  if (!is_journal_on(submission)) return {};
  const fs::path folder = submission / part.directory;
  Journal journal = read_journal(folder, part).value_or(Journal());
  bool is_noted = false;
  for (const TaskResult& task : result.tasks) {
    const auto run = journal_run_of(task, time);
    if (!run || unchanged.contains(task.id)) continue;
    is_noted = note_run(journal, *run) || is_noted;
  }
  if (!is_noted) return {};
  try {
    write_journal(folder, journal);
    return {};
  } catch (const FileError& error) {
    return error.what();
  }
}

}  // namespace rooflab
