#include "grader/cli/hand_in_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>
#include <set>
#include <utility>

#include "grader/author/kit_update.h"
#include "grader/cli/course_progress.h"
#include "grader/cli/typed_commands.h"
#include "grader/hand_in/hand_in.h"
#include "grader/pipeline/grade.h"
#include "grader/report/text.h"
#include "grader/spec/course_spec.h"
#include "grader/spec/journal.h"

namespace rooflab {
namespace {

namespace fs = std::filesystem;

/// A part, and what of it would be handed in.
struct Chosen {
  PartSpec part;
  HandIn hand_in;
};

std::optional<fs::path> originals_of(const Installation& installation, const fs::path& submission) {
  std::error_code error;
  const fs::path kept = installation.root / kOriginals / "starter";
  if (fs::is_directory(kept, error)) return kept;
  // A checkout has the course's files in starter/, where somebody may try the course out, too.
  if (fs::equivalent(submission, installation.starter(), error)) return std::nullopt;
  return fs::is_directory(installation.starter(), error) ? std::optional(installation.starter())
                                                         : std::nullopt;
}

/// The parts that are named; else the one that is begun.
std::vector<Chosen> choose(const HandInOptions& options, const Installation& installation,
                           const fs::path& submission) {
  const auto originals = originals_of(installation, submission);
  const bool with_journal = options.journal && is_journal_on(submission);
  const std::set<int> named(options.parts.begin(), options.parts.end());
  std::vector<Chosen> chosen;
  const auto consider = [&](int number, bool only_if_begun) {
    PartSpec part = load_part(installation.labs(), installation.solutions(), number);
    HandIn found = collect_hand_in(part, submission, originals, with_journal);
    if (!only_if_begun || found.is_begun) chosen.push_back({std::move(part), std::move(found)});
  };
  if (!named.empty()) {
    for (const int number : named) consider(number, false);
    return chosen;
  }
  if (!originals) {
    throw UsageError(
        fmt::format("name the part that you hand in, as in {} hand-in --part 1", typed_program()));
  }
  for (const int number : list_parts(installation.labs())) consider(number, true);
  if (chosen.size() == 1) return chosen;
  std::vector<int> numbers;
  for (const Chosen& one : chosen) numbers.push_back(one.part.number);
  throw UsageError(fmt::format("{}; name the part that you hand in, as in {} hand-in --part {}",
                               chosen.empty()
                                   ? std::string("no part differs from how it was handed out")
                                   : fmt::format("parts {} are begun", fmt::join(numbers, ", ")),
                               typed_program(), numbers.empty() ? 1 : numbers.back()));
}

void tell_list(std::ostream& out, const std::string& what, const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 8;
  if (names.empty()) return;
  std::string words;
  for (std::size_t i = 0; i < std::min(kShown, names.size()); ++i) {
    words += (i == 0 ? "" : ", ") + one_line(names[i]);
  }
  if (names.size() > kShown) words += fmt::format(" and {} more", names.size() - kShown);
  print_wrapped(out, what + ": ", words);
}

void tell_files(std::ostream& out, const std::vector<HandInFile>& files) {
  std::size_t width = 0;
  for (const HandInFile& file : files) width = std::max(width, file.path.size());
  for (const HandInFile& file : files) {
    std::string about = file.about;
    if (file.is_as_handed_out) about = "as handed out" + (about.empty() ? "" : ", " + about);
    out << fmt::format("  {:<{}}  {:>9}{}{}\n", file.path, width,
                       format_bytes(static_cast<double>(file.text.size())),
                       about.empty() ? "" : "  ", about);
  }
}

void tell(std::ostream& out, const Chosen& chosen, const CourseSpec& course) {
  const PartDates dates = dates_of(course, chosen.part.number);
  const std::int64_t now = std::time(nullptr);
  std::string due;
  if (dates.due) {
    due = fmt::format(", {} {}", dates.due->seconds < now ? "which was due" : "due",
                      text_of(*dates.due));
  }
  out << fmt::format("Part {}, {}{}\n", chosen.part.number, chosen.part.title, due);
  tell_files(out, chosen.hand_in.files);
  tell_list(out, "  not begun", chosen.hand_in.untouched);
  tell_list(out, "  not asked for, and left out", chosen.hand_in.left_out);
  for (const std::string& note : chosen.hand_in.notes) {
    print_wrapped(out, "  look at  ", one_line(note));
  }
}

fs::path archive_of(const HandInOptions& options, const Installation& installation,
                    const std::vector<Chosen>& chosen) {
  if (options.output.empty()) {
    std::vector<int> numbers;
    for (const Chosen& one : chosen) numbers.push_back(one.part.number);
    return installation.root / "out" /
           fmt::format("hand-in-part{}.tar.gz", fmt::join(numbers, "-"));
  }
  if (options.output.ends_with(".tar.gz") || options.output.ends_with(".tgz")) {
    return options.output;
  }
  throw UsageError("--output names an archive: let it end with .tar.gz");
}

void tell_how(std::ostream& out, const CourseSpec& course) {
  if (course.hand_in.empty()) {
    out << "Hand it in where your instructor says, as it is: do not unpack it.\n";
  } else {
    print_wrapped(out, "Hand it in: ", one_line(course.hand_in));
  }
}

}  // namespace

int hand_in(std::ostream& out, const HandInOptions& options, const Installation& installation) {
  const fs::path submission =
      options.submission.empty() ? installation.starter() : fs::path(options.submission);
  std::error_code error;
  if (!fs::is_directory(submission, error)) {
    throw UsageError(
        fmt::format("there is no folder {}; name yours with --submission", submission.string()));
  }
  const CourseSpec course = course_spec_or_none(installation.labs());
  const std::vector<Chosen> chosen = choose(options, installation, submission);
  const fs::path archive = archive_of(options, installation, chosen);
  std::vector<HandInFile> files;
  std::vector<std::string> refused;
  for (const Chosen& one : chosen) {
    tell(out, one, course);
    files.insert(files.end(), one.hand_in.files.begin(), one.hand_in.files.end());
    refused.insert(refused.end(), one.hand_in.refused.begin(), one.hand_in.refused.end());
  }
  if (!refused.empty()) {
    for (const std::string& line : refused) out << "refused: " << one_line(line) << '\n';
    out << fmt::format("{} was not written: the course would not take this.\n",
                       typed_path(archive));
    return 1;
  }
  if (auto who = student_file_of(submission)) files.push_back(std::move(*who));
  const std::uintmax_t bytes = pack_hand_in(files, archive);
  out << fmt::format("{}: {} {}, {}\n", typed_path(archive), files.size(),
                     files.size() == 1 ? "file" : "files",
                     format_bytes(static_cast<double>(bytes)));
  tell_how(out, course);
  return 0;
}

}  // namespace rooflab
