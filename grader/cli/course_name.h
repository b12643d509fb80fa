#pragma once

#include <string>

#include "grader/pipeline/installation.h"

namespace rooflab {

/// The course, in a kit with the versions of course and kit: "Efficient AI, version week 5, kit
/// 3f2a9c1b7d40"; empty where there is no labs/course.toml. One line.
/// @throws SpecError when there is one that cannot be used
std::string course_name(const Installation& installation);

/// What `grader --version` prints: the program's, and the course's where it is in one.
std::string version_words();

}  // namespace rooflab
