#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "grader/batch/course.h"
#include "grader/batch/store/store.h"

/// Answers in free text, which no program judges: a person gives points for them.
namespace rooflab {

/// One question as one student was asked it, with what the student wrote.
struct FreeText {
  std::string student;
  int part = 0;
  HandQuestion question;
  std::string prompt;        ///< empty where the part no longer asks it
  std::string grading = {};  ///< that the answer is of; empty where nothing was graded
  std::string answer;        ///< what a person reads; empty when the student wrote nothing
  bool waits = false;        ///< there is something to read, and nobody has given points for it yet
  bool is_new = false;       ///< of one that waits: points were given for what stood there before
  bool is_strangers = false;  ///< of nobody on the roster, in a class that has one
  bool to_come = false;       ///< its grading is not done: what was written is not known yet
};

/// The questions of free text of a part as the course has them now.
std::vector<HandQuestion> hand_questions_of(const PartSpec& part);

/// What one submission answers in free text, by item. It reads a student's file, so only the
/// worker of a grading may call it.
/// @param sources the files of a job, `<part directory>/<file>`
std::map<std::string, std::string> texts_in(const std::filesystem::path& sources,
                                            const PartSpec& part);

/// What people read of the work logs of a grading, by item: with the grader's own figures.
std::map<std::string, std::string> work_logs_in(const GradeResult& result);

/// Every free-text question of every submission that counts, by student, part and question. What
/// was graded is asked and valued as it was when it was graded. Those of nobody on the roster stand
/// last.
std::vector<FreeText> free_texts(Store& store, const Course& course);

/// free_text_rubric.md: what each question earns points for. Empty where no part says.
std::string rubric_page(const Course& course);

/// free_text.csv: all of them, with the points given so far, to be filled in and imported.
std::string free_text_table(Store& store, const Course& course);

}  // namespace rooflab
