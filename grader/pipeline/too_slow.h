#pragma once

#include <string>

#include "grader/device/device.h"
#include "grader/diagnose/diagnose.h"
#include "grader/pipeline/judge.h"
#include "grader/spec/part.h"
#include "grader/spec/result.h"

/// Timed cases that would take too long to simulate: their answers keep their points, and a lower
/// bound of the time says what speed points are left. docs/design/targets.md
namespace rooflab {

/// Whether a timed run was cut short, and nothing of it is to be judged but what happened before:
/// what it computed is not whole, and a program that goes on with it may end in any way.
bool is_cut_short(const RunOutcome& outcome);

/// Why what is known of the time of a call of which a part ran says nothing of all of it, a clause:
/// the blocks that ran write too little; or, of one that was cut short, it is below the roofline;
/// launches behind the cut did not run; or nothing could be compared and only the kernel's first
/// blocks are known, before which anything may stand. Empty when it says something.
std::string silence_of_part(const Timing& timing, const RunOutcome& outcome,
                            const Judgement& judgement);

/// Makes a timing one of a bound: what needs the whole run earns nothing.
void bound(Timing& timing);

/// Takes the points for speed, and the efficiency, of a time that says nothing.
void take_points_of_silence(Timing& timing, const RunOutcome& outcome, const Judgement& judgement);

/// The most that a timed case earns of its speed points where no value of it could be compared: an
/// answer that is wrong at that size alone must not pay.
inline constexpr double kUncomparedShare = 0.25;

/// Takes the points of a timing that are more than that.
void leave_uncompared_share(Timing& timing);

/// The story of a timed case that took too long: what its time or the bound of it is, what of it
/// was compared, and what points that leaves.
Diagnostic explain_too_slow(const Timing& timing, const RunOutcome& outcome,
                            const Judgement& judgement, const DiagnoseContext& context);

}  // namespace rooflab
