#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "grader/pipeline/installation.h"
#include "grader/pipeline/toolchain.h"
#include "grader/spec/course_spec.h"
#include "grader/spec/part.h"

/// What decides the outcome of a grading besides the submission, its device and its seed, as
/// fingerprints that go into the grading's key.
namespace rooflab {

/// What has a fingerprint of its own: programs with GPUs and toolkit; part.toml with targets,
/// interface, oracles, answers and the course's settings; hidden cases.
inline constexpr const char* kVersioned[] = {"grader", "part", "hidden"};

/// The line of a part: "rooflab 0.1.0 (grader 3f2a9c1b7d40, part 9d01…, hidden 77ab…), CUDA 13.0".
/// It changes with everything that can change an outcome, and with nothing else that can be told
/// apart: hints, titles, prompts and the words of causes leave it as it is, in files that are read
/// as TOML. A program or an oracle counts as a whole, its messages too, since nobody can tell from
/// two compiled files that they judge alike.
/// @throws FileError or SpecError for a file of the course that cannot be read
std::string versions_of(const Installation& installation, const Toolchain& toolchain,
                        const CourseSpec& course, const PartSpec& part);

/// Whether two such lines differ in the fingerprint of that name. A line that has none, since an
/// older grader wrote it, differs from every other.
bool differs_in(const std::string& versions, const std::string& others, const std::string& name);

/// A TOML file as it decides outcomes: without comments, order of keys, and texts for people.
/// @param texts where such texts stand, "task.question.prompt"; * is any key, and arrays are passed
/// over. A path names what is certain to be no more than words: everything else decides.
/// @return "nothing" where there is no such file
/// @throws SpecError when it is no TOML
std::string deciding_toml(const std::filesystem::path& file, const std::vector<std::string>& texts);

}  // namespace rooflab
