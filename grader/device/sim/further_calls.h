#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "grader/device/device.h"
#include "grader/device/guest_process.h"
#include "simgpu/device/device_process.h"

namespace rooflab {

/// The calls behind a first one, in its process (RunRequest::further): a function that works only
/// the first time keeps something that it should not.
class FurtherCalls {
 public:
  /// @param first the first call, whose tensors lie at `addresses`
  FurtherCalls(simgpu::DeviceProcess& device, GuestProcess& guest, const RunRequest& request,
               const Call& first, const std::vector<std::uint64_t>& addresses);

  /// Makes them. What goes wrong by itself becomes the outcome of the first call, and ends them;
  /// whether results are right, its fresh calls tell.
  void make(RunOutcome& first);

 private:
  void make(FreshCall& fresh, RunOutcome& first);
  std::size_t place(const Problem& problem, const FurtherCall& further);
  RunOutcome call_with(const Problem& problem, const std::vector<std::uint64_t>& addresses,
                       bool is_last);
  void keep(const Problem& problem, const std::vector<std::uint64_t>& addresses);
  void poison_outputs();
  bool has_written_to_any_but(std::size_t number);

  simgpu::DeviceProcess& device_;
  GuestProcess& guest_;
  const RunRequest& request_;
  Call first_;
  std::vector<std::vector<std::uint64_t>> places_;       ///< by call: addresses of its tensors
  std::vector<std::vector<simgpu::ByteRange>> outputs_;  ///< by call: where its outputs begin
};

}  // namespace rooflab
