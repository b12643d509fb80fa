#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "grader/author/verify/claim.h"
#include "grader/spec/part.h"
#include "grader/spec/result.h"
#include "specs/gpu_spec.h"

/// What a grade's JSON says, for all that judge one.
namespace rooflab::verify {

/// Points are rounded to hundredths: less than half of one makes no difference.
inline constexpr double kHundredth = 0.005;

/// "RL0301: `Bs` is overwritten while …".
std::string in_one_line(const nlohmann::json& diagnostic);

/// What the grader found first; empty when nothing.
std::string first_finding(const nlohmann::json& task);

/// "its verdict is race, RL0301: …".
std::string verdict_in_words(const nlohmann::json& task);

bool has_verdict(const nlohmann::json& task, Verdict verdict);

/// Adds a failure for a grade that is not there, or that the grader itself failed at.
/// @return whether there is one to judge
bool take_grade(const Ran& ran, const std::string& replay, Outcome& outcome);

/// The cases and timed cases of part.toml that this GPU can run and a task's result lacks, each as
/// a sentence.
std::vector<std::string> cases_not_run(const TaskSpec& task, const gpu_spec::GpuSpec& gpu,
                                       const nlohmann::json& result);

}  // namespace rooflab::verify
