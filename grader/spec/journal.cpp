#include "grader/spec/journal.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "grader/spec/files.h"
#include "grader/spec/toml_reader.h"

namespace rooflab {
namespace {

/// 400 runs take some 60 KB.
constexpr std::size_t kLargestJournal = 128U << 10;
constexpr std::size_t kMostCodes = 12;
constexpr std::int64_t kMostHints = 1000;
constexpr std::int64_t kMinute = 60;

constexpr const char* kAbout =
    "# Runs of the grader that you chose to note (grader journal). Each is a line: when, which "
    "task, what came of it,\n"
    "# and how many hints you had seen. There is no code, no path and no name in it, and it "
    "counts for no points.\n"
    "# grader hand-in packs it; --no-journal leaves it out. grader journal off ends it.\n";

constexpr const char* kSettingKey = "keep";

bool is_passed(const Journal& journal, const std::string& task) {
  return std::ranges::any_of(journal.runs, [&](const JournalRun& run) {
    return run.task == task && run.verdict == Verdict::pass;
  });
}

bool is_try(Verdict verdict) {
  return verdict != Verdict::not_implemented && verdict != Verdict::not_applicable &&
         verdict != Verdict::grader_fault;
}

/// A run as a student's file has it. @throws SpecError where it cannot be one
JournalRun run_in(const toml::table& table, const PartSpec& part) {
  TableReader reader(table, kJournalFile, "run");
  JournalRun run{.time = reader.time("time") / kMinute * kMinute,
                 .task = reader.text("task"),
                 .verdict = Verdict::pass,
                 .score = reader.number("points"),
                 .max_score = reader.number("of"),
                 .hints = 0,
                 .codes = {}};
  const auto task = std::ranges::find(part.tasks, run.task, &TaskSpec::id);
  const auto verdict = verdict_of(reader.text("verdict"));
  const std::int64_t hints = reader.integer("hints");
  const std::vector<std::string> codes = reader.texts("codes");
  if (task == part.tasks.end() || !verdict || !is_try(*verdict) || run.time < 0 ||
      !(run.score >= 0 && run.score <= run.max_score && run.max_score <= maximum_points(*task)) ||
      hints < 0 || hints > kMostHints || codes.size() > kMostCodes) {
    throw SpecError("this is no run");
  }
  run.verdict = *verdict;
  run.hints = static_cast<int>(hints);
  for (const std::string& text : codes) {
    if (const auto code = simgpu::Code::parse(text)) run.codes.push_back(*code);
  }
  return run;
}

}  // namespace

bool is_journal_on(const std::filesystem::path& submission) {
  const SubmittedFile file = read_submitted(submission, kJournalSettingFile);
  if (file.state != SubmittedFile::State::present) return false;
  try {
    const toml::table table = parse_toml_text(file.text, kJournalSettingFile);
    return table[kSettingKey].value_exact<bool>().value_or(false);
  } catch (const SpecError&) {
    return false;
  }
}

void set_journal(const std::filesystem::path& submission, bool on) {
  write_file_atomically(
      submission / kJournalSettingFile,
      fmt::format("# Written by grader journal {}: whether your runs are noted in {} of each "
                  "part.\n{} = {}\n",
                  on ? "on" : "off", kJournalFile, kSettingKey, on));
}

std::optional<JournalRun> journal_run_of(const TaskResult& task, std::int64_t time) {
  if (!is_try(task.verdict) || task.graded_later > 0) return std::nullopt;
  JournalRun run{.time = time / kMinute * kMinute,
                 .task = task.id,
                 .verdict = task.verdict,
                 .score = task.score,
                 .max_score = task.max_score,
                 .hints = task.hints.shown,
                 .codes = {}};
  for (const HintUse::OfGroup& group : task.hints.groups) run.hints += group.shown;
  for (const Diagnostic& story : task.diagnostics) {
    const bool is_new = std::ranges::find(run.codes, story.code) == run.codes.end();
    if (is_new && run.codes.size() < kMostCodes) run.codes.push_back(story.code);
  }
  return run;
}

bool note_run(Journal& journal, const JournalRun& run) {
  if (is_full(journal) || is_passed(journal, run.task)) return false;
  journal.runs.push_back(run);
  return true;
}

Journal journal_in(const std::string& text, const PartSpec& part) {
  Journal journal;
  if (text.size() > kLargestJournal) return journal;
  try {
    const toml::table table = parse_toml_text(text, kJournalFile);
    const toml::array* runs = table["run"].as_array();
    if (runs == nullptr) return journal;
    for (const toml::node& node : *runs) {
      if (!node.is_table()) continue;
      try {
        note_run(journal, run_in(*node.as_table(), part));
      } catch (const SpecError&) {  // costs itself alone
      }
    }
  } catch (const SpecError&) {  // there is none then
  }
  return journal;
}

std::string journal_text(const Journal& journal) {
  std::string text = kAbout;
  text += "run = [\n";
  for (const JournalRun& run : journal.runs) {
    std::string codes;
    for (const simgpu::Code& code : run.codes) {
      codes += fmt::format("{}\"{}\"", codes.empty() ? "" : ", ", code.text());
    }
    text += fmt::format(
        "  {{ time = {}, task = {}, verdict = \"{}\", points = {:.4f}, of = {:.4f}, hints = {}, "
        "codes = [{}] }},\n",
        toml_text_of({.seconds = run.time}), toml_string(run.task), name_of(run.verdict), run.score,
        run.max_score, run.hints, codes);
  }
  return text + "]\n";
}

std::optional<Journal> read_journal(const std::filesystem::path& folder, const PartSpec& part) {
  const SubmittedFile file = read_submitted(folder, kJournalFile);
  if (file.state != SubmittedFile::State::present) return std::nullopt;
  return journal_in(file.text, part);
}

void write_journal(const std::filesystem::path& folder, const Journal& journal) {
  write_file_atomically(folder / kJournalFile, journal_text(journal));
}

}  // namespace rooflab
