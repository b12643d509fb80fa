#pragma once

#include <filesystem>

#include "grader/batch/course.h"
#include "grader/batch/store/store.h"

namespace rooflab {

/// answers/<student>-part<N>-answers.toml: the files of answers that people grade by hand, byte for
/// byte as they were handed in. What a table shows of them is what could be read.
void write_raw_answers(const std::filesystem::path& folder, Store& store, const Course& course);

}  // namespace rooflab
