#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "grader/batch/course.h"
#include "grader/batch/outputs/class_results.h"
#include "grader/batch/store/store.h"

/// Wrong answers that are right with another student's numbers: something for people to look at.
namespace rooflab {

/// What one submission answers to the questions of a part that draw numbers. It reads a student's
/// file, so only the worker of a grading may call it.
/// @param sources the files of a job, `<part directory>/<file>`
std::map<std::string, double> numbers_in(const std::filesystem::path& sources,
                                         const PartSpec& part);

/// Notes for people, in the lines of the tasks concerned (TaskLine::for_people), whose wrong
/// answers fit another student of the roster: docs/design/questions.md says when. It changes no
/// points.
void note_neighbours(ClassResults& results, Store& store, const Course& course);

}  // namespace rooflab
