#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

#include "grader/spec/part.h"
#include "grader/spec/result.h"

/// Notes of a student's own runs, which a student chooses to keep and to share:
/// docs/design/journal.md. They hold no code, no path and no name, and no points depend on them.
namespace rooflab {

/// A part's journal, beside its other files of a submission.
inline constexpr const char* kJournalFile = "journal.toml";
/// At the top of a submission: whether runs are noted.
inline constexpr const char* kJournalSettingFile = "journal_setting.toml";

/// That many runs of a part are noted; later ones are not.
inline constexpr std::size_t kMostJournalRuns = 400;

inline bool is_full(const Journal& journal) { return journal.runs.size() >= kMostJournalRuns; }

/// Whether the student has chosen that runs are noted; a file that says nothing clear counts as no.
bool is_journal_on(const std::filesystem::path& submission);
/// @throws FileError
void set_journal(const std::filesystem::path& submission, bool on);

/// What a run of a task has to say: nothing where it is no try (a stub, what this GPU cannot run,
/// what the grader failed at, answers that no key judges here).
/// @param time seconds since 1970; noted to the minute
std::optional<JournalRun> journal_run_of(const TaskResult& task, std::int64_t time);

/// Adds a run, unless its task has passed before or the journal is full. @return whether it did
bool note_run(Journal& journal, const JournalRun& run);

/// The journal in a file's text, which may be anything: a run that cannot be, of a task that the
/// part does not have too, is left out, and a text that is too large or no TOML has none.
Journal journal_in(const std::string& text, const PartSpec& part);
std::string journal_text(const Journal& journal);

/// Nothing where there is no such file, or it is a link or anything else but a plain file.
/// @param folder the part's folder of a submission
std::optional<Journal> read_journal(const std::filesystem::path& folder, const PartSpec& part);
/// @throws FileError
void write_journal(const std::filesystem::path& folder, const Journal& journal);

}  // namespace rooflab
