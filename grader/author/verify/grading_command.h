#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "grader/pipeline/installation.h"

namespace rooflab::verify {

/// The words that grade a submission's part, always with the inputs of kSeed.
/// @param device as for --device, "sim:a100" or "cuda:0"
/// @param folder gets grade.json and report/grade.html
std::vector<std::string> grading_command(const Installation& installation, int part,
                                         const std::string& device,
                                         const std::filesystem::path& submission,
                                         const std::filesystem::path& folder);

}  // namespace rooflab::verify
