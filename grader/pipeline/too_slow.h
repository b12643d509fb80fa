#pragma once

#include "grader/device/device.h"
#include "grader/diagnose/diagnose.h"
#include "grader/spec/part.h"
#include "grader/spec/result.h"

/// Timed cases that would take too long to simulate: their answers keep their points, and a lower
/// bound of the time says what speed points are left. docs/design/targets.md
namespace rooflab {

/// Whether a timed run was cut short, and nothing of it is to be judged but what happened before:
/// what it computed is not whole, and a program that goes on with it may end in any way.
bool is_cut_short(const RunOutcome& outcome);

/// Whether values of a sampled run that differ say nothing: a launch or copy behind a sampled one
/// works on what that left out.
bool works_on_samples(const simgpu::Activity& activity);

/// Makes a timing one of a bound: what needs the whole run earns nothing.
void bound(Timing& timing);

/// The story of such a timing: what the bound is, and what points it leaves.
Diagnostic explain_too_slow(const Timing& timing, const RunOutcome& outcome,
                            const DiagnoseContext& context);

}  // namespace rooflab
