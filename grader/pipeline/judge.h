#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "grader/contract/oracle.h"
#include "grader/device/device.h"
#include "grader/diagnose/diagnose.h"
#include "grader/spec/part.h"
#include "grader/spec/result.h"

namespace rooflab {

/// How much a story tells of the cause.
enum class Telling : std::uint8_t {
  nothing,  ///< that values are wrong
  pattern,  ///< how they are wrong; or a cause, by so few elements that others would look the same
  law,      ///< what all calls have in common, found without knowing what the numbers mean
  cause,
};

/// What one run came to.
struct Judgement {
  Verdict verdict = Verdict::pass;
  std::vector<Diagnostic> diagnostics;
  /// Of wrong answers: how much the first diagnostic tells.
  Telling telling = Telling::nothing;
  /// Of a wrong answer whose cause few values speak for, such as a number that a known slip gives,
  /// too: what is said of it without that cause.
  std::optional<Diagnostic> without_cause{};
  /// That cause, as KnownMistake::cause names it.
  std::string doubtful_cause{};
  /// Causes that this run would show and does not, by the same names.
  std::vector<std::string> not_shown{};
  /// What proves nothing, and a person should look at.
  std::vector<std::string> for_people{};
  /// Nothing is known to be wrong, but its values could not be compared either: the device ran only
  /// a part of the call, and the values that are final say too little.
  bool is_uncompared = false;
  /// Likewise, because the blocks that ran write too little: others do the work of several.
  bool shows_too_little = false;
};

/// Whether a case ended at a limit of the machine: others like it would only take as long.
bool is_limit(Verdict verdict);

/// Tells a judgement without its cause, which has been refuted. @param judgement has
/// `without_cause`
void drop_cause(Judgement& judgement);

/// One run with all that is needed to judge it.
struct JudgedRun {
  const TaskSpec& task;
  const CaseSpec& spec;
  const Problem& problem;
  const Oracle* oracle = nullptr;  ///< null for tasks whose cases hold their results
  const RunOutcome& outcome;
  DiagnoseContext context;
  const gpu_spec::GpuSpec& gpu;
};

/// What oracles are given of a run on that GPU.
CallEvidence evidence_of(const RunOutcome& outcome, const gpu_spec::GpuSpec& gpu);

/// The verdict of a run, the most telling cause first: a fault of the grader; a stub; a race, or
/// the divergent barrier that it follows from; a resource limit; any other finding of the device;
/// the way the process or the CUDA calls ended; a forbidden function; wrong outputs, changed
/// inputs, wrong results; what the oracle finds in the evidence; and work that no kernel did. Of a
/// run that was cut short or sampled, what whole blocks wrote is compared, where that is final.
/// @throws OracleFault when the oracle contradicts its own problem.
Judgement judge(const JudgedRun& run);

/// Findings in the order in which they are told. Of several arrays that one missing barrier leaves
/// without order, the one that threads of two warps share comes first: what orders them orders the
/// threads of one warp, too.
std::vector<simgpu::Finding> of_two_warps_first(std::vector<simgpu::Finding> findings);

}  // namespace rooflab
