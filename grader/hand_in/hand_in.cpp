#include "grader/hand_in/hand_in.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "grader/author/kit_files.h"
#include "grader/author/runtime_packages.h"
#include "grader/spec/answers.h"
#include "grader/spec/files.h"
#include "grader/spec/handed_out.h"
#include "grader/spec/journal.h"
#include "grader/spec/work_log.h"

namespace rooflab {
namespace {

namespace fs = std::filesystem;
using State = SubmittedFile::State;

constexpr const char* kStudentFile = "student.toml";

fs::file_time_type time_of(const fs::path& file) {
  std::error_code error;
  const auto time = fs::last_write_time(file, error);
  return error ? fs::file_time_type::clock::now() : time;
}

class Collector {
 public:
  Collector(const PartSpec& part, const fs::path& submission,
            const std::optional<fs::path>& originals, bool with_journal)
      : part_(part),
        folder_(submission / part.directory),
        originals_(originals),
        with_journal_(with_journal) {}

  HandIn run() {
    const std::vector<std::string> required = submitted_files(part_);
    for (const std::string& name : files_to_hand_in(part_)) {
      if (name == kJournalFile) continue;
      take(name, std::ranges::find(required, name) != required.end());
    }
    take_journal();
    for (const TaskSpec& task : part_.tasks) look_at(task);
    find_others();
    return std::move(hand_in_);
  }

 private:
  void take(const std::string& name, bool is_required) {
    const SubmittedFile file = read_submitted(folder_, name);
    const std::string path = part_.directory + "/" + name;
    switch (file.state) {
      case State::present:
        hand_in_.files.push_back(
            {path, file.text, time_of(folder_ / name), is_original(name, file)});
        if (is_required && !hand_in_.files.back().is_as_handed_out) hand_in_.is_begun = true;
        break;
      case State::missing:
        if (is_required) {
          hand_in_.refused.push_back(
              fmt::format("{} is missing; copy it from {}", path, where_handed_out(part_, name)));
        }
        break;
      case State::unreadable:
        hand_in_.refused.push_back(
            fmt::format("{} cannot be read: {}; make it readable", path, file.reason));
        break;
      case State::refused:
        hand_in_.refused.push_back(fmt::format(
            "{}: {}; put a plain text file of at most 1 MiB in its place", path, file.reason));
        break;
    }
  }

  /// It is the student's to share. What a student shares is what the student was shown.
  void take_journal() {
    const auto journal = read_journal(folder_, part_);
    if (!journal) return;
    const std::string path = part_.directory + "/" + kJournalFile;
    if (!with_journal_) {
      hand_in_.notes.push_back(path + " is not packed: you do not share it");
      return;
    }
    hand_in_.files.push_back({path, journal_text(*journal), time_of(folder_ / kJournalFile), false,
                              fmt::format("{} of your runs; grader journal shows them, "
                                          "--no-journal leaves them out",
                                          journal->runs.size())});
  }

  bool is_original(const std::string& name, const SubmittedFile& file) const {
    if (!originals_) return false;
    const SubmittedFile original = read_submitted(*originals_ / part_.directory, name);
    return original.state == State::present && original.text == file.text;
  }

  HandInFile* find(const std::string& name) {
    const auto found =
        std::ranges::find(hand_in_.files, part_.directory + "/" + name, &HandInFile::path);
    return found == hand_in_.files.end() ? nullptr : &*found;
  }

  void look_at(const TaskSpec& task) {
    HandInFile* const file = find(task.file);
    if (file == nullptr) return;
    if (task.kind == TaskKind::answers) tell_answers(task, *file);
    if (task.kind == TaskKind::worklog) tell_work_log(*file);
    const bool is_untouched =
        file->is_as_handed_out && std::ranges::all_of(task.uses, [&](const std::string& used) {
          const HandInFile* const other = find(used);
          return other != nullptr && other->is_as_handed_out;
        });
    if (is_untouched) hand_in_.untouched.push_back(task.id);
  }

  void tell_answers(const TaskSpec& task, HandInFile& file) {
    const Answers answers = read_answers(file.text, task);
    std::size_t asked = 0;
    std::size_t answered = 0;
    for (const QuestionSpec& question : task.questions) {
      if (question.bonus) continue;
      ++asked;
      if (answers.values.contains(question.id)) ++answered;
    }
    file.about = fmt::format("{} of {} questions answered", answered, asked);
    for (const AnswerProblem& problem : answers.problems) {
      hand_in_.notes.push_back(
          fmt::format("{}:{}: {}; {}", file.path, problem.line, problem.message, problem.help));
    }
    if (draws_numbers(task) && answers.student.empty() && answered > 0) {
      hand_in_.notes.push_back(fmt::format(
          "{} names no student: where your class has numbers of its own, write {} = \"your ID\"",
          file.path, kStudentKey));
    }
  }

  void tell_work_log(HandInFile& file) {
    const WorkLogText log = read_work_log(file.text);
    file.about =
        fmt::format("{} {}", log.entries.size(), log.entries.size() == 1 ? "version" : "versions");
    for (const AnswerProblem& problem : log.problems) {
      hand_in_.notes.push_back(
          fmt::format("{}:{}: {}; {}", file.path, problem.line, problem.message, problem.help));
    }
  }

  void find_others() {
    std::set<std::string> wanted;
    for (const std::string& name : files_to_hand_in(part_)) wanted.insert(name);
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder_, error)) {
      const std::string name = entry.path().filename().string();
      if (!wanted.contains(name)) hand_in_.left_out.push_back(part_.directory + "/" + name);
    }
    std::ranges::sort(hand_in_.left_out);
  }

  const PartSpec& part_;
  const fs::path folder_;
  const std::optional<fs::path>& originals_;
  bool with_journal_;
  HandIn hand_in_;
};

void make_archive(const std::vector<HandInFile>& files, const fs::path& staging,
                  const fs::path& archive) {
  const fs::path content = staging / "content";
  std::vector<std::string> command = {"tar",
                                      "--create",
                                      "--format=ustar",
                                      "--owner=0",
                                      "--group=0",
                                      "--numeric-owner",
                                      "--mode=0644",
                                      "--use-compress-program=gzip --no-name",
                                      "--file=" + archive.string(),
                                      "--directory=" + content.string(),
                                      "--"};
  for (const HandInFile& file : files) {
    write_file_atomically(content / file.path, file.text);
    fs::last_write_time(content / file.path, file.modified);
    command.push_back(file.path);
  }
  run_tool(command);
}

}  // namespace

HandIn collect_hand_in(const PartSpec& part, const fs::path& submission,
                       const std::optional<fs::path>& originals, bool with_journal) {
  return Collector(part, submission, originals, with_journal).run();
}

std::optional<HandInFile> student_file_of(const fs::path& submission) {
  const SubmittedFile file = read_submitted(submission, kStudentFile);
  if (file.state == State::missing) return std::nullopt;
  if (file.state != State::present) {
    throw HandInError(fmt::format("{}: {}; remove it, or make it a text file with id = \"…\"",
                                  (submission / kStudentFile).string(), file.reason));
  }
  return HandInFile{kStudentFile, file.text, time_of(submission / kStudentFile)};
}

std::uintmax_t pack_hand_in(const std::vector<HandInFile>& files, const fs::path& archive) {
  std::error_code error;
  if (fs::is_directory(archive, error)) {
    throw HandInError(fmt::format("{} is a folder; name a file with --output", archive.string()));
  }
  try {
    const TemporaryFolder staging(fs::absolute(archive).parent_path());
    const fs::path packed = staging.path() / "packed.tar.gz";
    make_archive(files, staging.path(), packed);
    const std::uintmax_t bytes = fs::file_size(packed);
    fs::rename(packed, archive);
    return bytes;
  } catch (const ReleaseError& failure) {
    throw HandInError(failure.what());
  } catch (const fs::filesystem_error& failure) {
    throw HandInError(fmt::format("{} cannot be written: {}; name another file with --output",
                                  archive.string(), failure.code().message()));
  }
}

}  // namespace rooflab
