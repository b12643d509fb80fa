#pragma once

#include <filesystem>
#include <functional>

#include "grader/device/device.h"
#include "grader/device/guest_process.h"
#include "grader/guest/call_protocol.h"

namespace rooflab::sanitizer {

/// compute-sanitizer of a toolkit whose libraries lie in `lib64`: the program itself, not the
/// script that some toolkits start it by. Empty when there is none.
std::filesystem::path find_sanitizer(const std::filesystem::path& lib64);

/// A call that is made once under each tool.
struct CheckedRun {
  std::filesystem::path program;  ///< find_sanitizer
  GuestSetup setup;               ///< as of a run without it; each tool has 20 s at most
  /// Writes the tensors anew and tells the call. The guest gets tensors of its own, since those of
  /// ours take whole pages, between which and their end nothing is out of bounds for the tool.
  std::function<Call()> prepare;
};

/// Runs memcheck, synccheck, racecheck and initcheck in this order, until one finds something: what
/// a later one says follows from it. Nothing of it is a verdict, so that a guest may say there what
/// it likes. @throws SandboxError
CheckedCall run_checked(const CheckedRun& run);

}  // namespace rooflab::sanitizer
