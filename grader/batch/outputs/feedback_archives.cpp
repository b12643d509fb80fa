#include "grader/batch/outputs/feedback_archives.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "grader/batch/intake/fold_name.h"
#include "grader/batch/outputs/class_words.h"
#include "grader/batch/outputs/gradescope_rerun.h"
#include "grader/batch/outputs/zip_file.h"

namespace rooflab {
namespace {

/// The student's name as a part of a file's name, in letters and digits of ASCII: platforms go by
/// the numbers behind it alone. It begins with a letter, since Canvas takes the first number for
/// the user's.
std::string name_in_file(const Student& student) {
  constexpr std::size_t kLongest = 40;
  std::string name;
  for (const char c : fold_letters(display_name(student))) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (is_plain && name.size() < kLongest) name += c;
  }
  const bool begins_badly = name.empty() || (name.front() >= '0' && name.front() <= '9');
  return begins_badly ? "student" + name : name;
}

/// "adalovelace_12345_67890_feedback.html": name, user and attachment, as Canvas names what it
/// exports. Canvas takes the first two numbers between underlines, and comments on the submission
/// that has the attachment: infer_comment_context_from_filename() of
/// https://github.com/instructure/canvas-lms/blob/master/app/models/assignment.rb
std::string canvas_entry(const StudentOutcome& student) {
  return fmt::format("{}_{}_feedback.html", name_in_file(student.student), student.return_name);
}

/// "adalovelace_12345_assignfeedback_file_feedback.html": full name, participant, kind and name of
/// Moodle's plugin, name of the file. Moodle splits it at underlines, into five parts at most:
/// is_valid_filename_for_import() of
/// https://github.com/moodle/moodle/blob/main/mod/assign/feedback/file/importziplib.php
std::string moodle_entry(const StudentOutcome& student) {
  return fmt::format("{}_{}_assignfeedback_file_feedback.html", name_in_file(student.student),
                     student.return_name);
}

/// What comes back to one platform.
struct Way {
  Platform platform;
  const char* archive;
  const char* how;
};
constexpr std::array kWays{
    Way{Platform::canvas, kCanvasFeedback, "in Canvas, the assignment's Upload Submissions"},
    Way{Platform::moodle, kMoodleFeedback,
        "in Moodle, the assignment's Upload multiple feedback files in a zip"},
    Way{Platform::gradescope, kGradescopeRerun,
        "in Gradescope, upload it as the autograder and rerun it on all submissions (Manage "
        "Submissions)"},
    Way{Platform::git, nullptr,
        "scripts/feedback_branches keeps it as a branch of each repository that was collected"},
};

std::string students_words(std::size_t count) {
  return fmt::format("{} {}", count, count == 1 ? "student" : "students");
}

}  // namespace

void FeedbackArchives::add(const StudentOutcome& student, const std::string& page,
                           const std::string& gradescope) {
  if (student.return_name.empty()) return;
  switch (student.platform) {
    case Platform::canvas:
      files_[kCanvasFeedback].emplace(canvas_entry(student), page);
      break;
    case Platform::moodle:
      files_[kMoodleFeedback].emplace(moodle_entry(student), page);
      break;
    case Platform::gradescope:
      files_[kGradescopeRerun].emplace(rerun_result_name(student.return_name), gradescope);
      break;
    case Platform::none:
    case Platform::git:
      break;
  }
}

std::map<std::string, std::string> FeedbackArchives::finish() && {
  const auto rerun = files_.find(kGradescopeRerun);
  if (rerun != files_.end()) rerun->second.merge(rerun_programs());
  std::map<std::string, std::string> archives;
  for (const auto& [archive, files] : files_) archives[archive] = zip_file(files);
  return archives;
}

std::vector<std::string> words_about_return(const ClassResults& results) {
  std::map<Platform, std::size_t> ways, without;
  for (const StudentOutcome& student : results.students) {
    if (student.submission.empty()) continue;
    ++(student.return_name.empty() ? without : ways)[student.platform];
  }
  std::vector<std::string> words;
  for (const Way& way : kWays) {
    if (ways[way.platform] > 0) {
      words.push_back(
          fmt::format("{}feedback for {}: {}",
                      way.archive == nullptr ? std::string() : fmt::format("{} has ", way.archive),
                      students_words(ways[way.platform]), way.how));
    }
    if (without[way.platform] > 0) {
      words.push_back(fmt::format(
          "{} of {} handed in together with others, who would see it too: their pages in feedback/ "
          "go back by hand",
          students_words(without[way.platform]), name_of(way.platform)));
    }
  }
  if (without[Platform::none] > 0) {
    words.push_back(
        fmt::format("{} handed in by a folder or file whose name is none of Canvas's, Moodle's or "
                    "Gradescope's, "
                    "and which is no git repository: their pages in feedback/ go back by hand",
                    students_words(without[Platform::none])));
  }
  return words;
}

}  // namespace rooflab
