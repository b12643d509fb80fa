#include "grader/batch/outputs/feedback_archives.h"

#include <fmt/format.h>

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

/// How feedback goes back, and why there is none for some: sentences about so many students.
struct Way {
  Platform platform;
  const char* back;  ///< empty: in no way
  const char* without;
};
constexpr std::array kWays{
    Way{Platform::canvas,
        "canvas_feedback.zip has the feedback of {}; upload it in Canvas, at the assignment's "
        "Upload "
        "Submissions",
        "{} handed in together on Canvas, which would show each page to all of them; give their "
        "pages "
        "in feedback/ back by hand"},
    Way{Platform::moodle,
        "moodle_feedback.zip has the feedback of {}; upload it in Moodle, at the assignment's "
        "Upload "
        "multiple feedback files in a zip",
        "{} on Moodle without a participant number; add the column Identifier of Moodle's grading "
        "worksheet to the roster, or give their pages in feedback/ back by hand"},
    Way{Platform::gradescope,
        "gradescope_rerun.zip has the results of {}; upload it in Gradescope as the autograder, "
        "and "
        "rerun it on all submissions (Manage Submissions)",
        "{} on Gradescope with no submission of their own there: those who handed in together see "
        "the "
        "result of the first of them"},
    Way{Platform::git,
        "scripts/feedback_branches makes the feedback of {} a branch of the repository that was "
        "collected",
        "{} share a repository, and would read each other's page; give their pages in feedback/ "
        "back "
        "by hand"},
    Way{Platform::none, "",
        "{} handed in by a name that is none of Canvas's, Moodle's or Gradescope's, and by no git "
        "repository; give their pages in feedback/ back by hand"},
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
  const auto say = [&](const char* sentence, std::size_t students) {
    if (students > 0)
      words.push_back(fmt::format(fmt::runtime(sentence), students_words(students)));
  };
  for (const Way& way : kWays) {
    say(way.back, ways[way.platform]);
    say(way.without, without[way.platform]);
  }
  return words;
}

}  // namespace rooflab
