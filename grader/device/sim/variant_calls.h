#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "grader/device/device.h"
#include "grader/device/sim/sim_session.h"
#include "grader/guest/call_protocol.h"

namespace rooflab {

/// The calls of a library's variants behind a first call (RunRequest::variants). What one of them
/// breaks, be it the device's context or the guest's process, is mended before the next one.
class VariantCalls {
 public:
  /// @param first the first call
  VariantCalls(SimSession& session, const RunRequest& request, const Call& first);

  /// Fills in the outcome of the first call, and makes the others.
  /// @param reply to the first call
  void make(const std::optional<Reply>& reply, RunOutcome& outcome);

 private:
  VariantCall call(std::size_t number);
  void begin(const Variant& variant);
  VariantCall collect(const Problem& problem, const std::optional<Reply>& reply);

  SimSession& session_;
  const RunRequest& request_;
  Call call_;
  std::uint64_t budget_ = 0;
  bool follows_failure_ = false;
};

}  // namespace rooflab
