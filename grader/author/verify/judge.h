#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "grader/author/verify/claim.h"
#include "grader/author/verify/mistake.h"
#include "grader/spec/part.h"
#include "specs/gpu_spec.h"

/// Holds a grade against what the course promises of it.
namespace rooflab::verify {

/// Of the inputs of every grading, so that a proof fails every time or never.
inline constexpr std::uint64_t kSeed = 20240229;

/// What a solution's efficiency has to be over the target's: room for students' ways of writing it.
inline constexpr double kSpeedMargin = 1.25;

/// The part as it is graded on a GPU.
struct Graded {
  const PartSpec& part;
  const gpu_spec::GpuSpec& gpu;
};

/// Every task passes with all points that part.toml names for this GPU, every case and timed case
/// of them was run, and each timed case is kSpeedMargin over its target. Tasks that the GPU cannot
/// run have to be those whose timed cases need a peak that it lacks, and no others.
Outcome judge_solution(const Graded& graded, const Ran& ran);

/// Every task builds, earns nothing, and its first diagnostic names the file and the line of a TODO
/// of the starter; for answers, the file and a question in it that is open. Of a starter that is
/// wrong on purpose, it has the code that part.toml gives as `starter_finds`.
/// @param starter the folder
Outcome judge_starter(const Graded& graded, const Ran& ran, const std::filesystem::path& starter);

/// The verdict, the code, the words and the score are those that the mistake declares.
Outcome judge_mistake(const Graded& graded, const Ran& ran, const Mistake& mistake);

/// Whether the GPU lacks what a timed case of the task needs that earns points.
bool cannot_run(const TaskSpec& task, const gpu_spec::GpuSpec& gpu);

}  // namespace rooflab::verify
