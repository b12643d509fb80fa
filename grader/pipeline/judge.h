#pragma once

#include <vector>

#include "grader/contract/oracle.h"
#include "grader/device/device.h"
#include "grader/diagnose/diagnose.h"
#include "grader/spec/part.h"
#include "grader/spec/result.h"

namespace rooflab {

/// What one run came to.
struct Judgement {
  Verdict verdict = Verdict::pass;
  std::vector<Diagnostic> diagnostics;
  /// The first diagnostic names a cause, and the outputs are large enough that no other cause would
  /// look the same. Only of wrong answers.
  bool conclusive = false;
};

/// One run with all that is needed to judge it.
struct JudgedRun {
  const TaskSpec& task;
  const CaseSpec& spec;
  const Problem& problem;
  const Oracle* oracle = nullptr;  ///< null for tasks whose cases hold their results
  const RunOutcome& outcome;
  DiagnoseContext context;
};

/// The verdict of a run, the most telling cause first: a fault of the grader; a stub; a race, or
/// the divergent barrier that it follows from; a resource limit; any other finding of the device;
/// the way the process or the CUDA calls ended; a forbidden function; wrong outputs, changed
/// inputs, wrong results; what the oracle finds in the evidence; and work that no kernel did.
/// @throws OracleFault when the oracle contradicts its own problem.
Judgement judge(const JudgedRun& run);

}  // namespace rooflab
