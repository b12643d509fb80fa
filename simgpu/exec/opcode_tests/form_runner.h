#pragma once

#include <memory>
#include <string>
#include <vector>

#include "simgpu/exec/engine.h"
#include "simgpu/exec/opcode_tests/form.h"

namespace simgpu::opcode_tests {

/// Both results of one lane.
struct LaneResult {
  std::uint64_t plain = 0;
  std::uint64_t guarded = 0;
};

/// The forms of one topic as one lowered module, run on the engine form by form.
class FormRunner {
 public:
  explicit FormRunner(const Forms& forms);

  /// Why the engine does not have form number `index`; empty when it has.
  std::string refusal(std::size_t index) const;

  /// One result per lane. The last warp of each block is partial.
  std::vector<LaneResult> run(std::size_t index, const Form& form, const std::vector<Lane>& lanes);

 private:
  std::shared_ptr<const Program> program_;
  DeviceMemory memory_;
  gpu_spec::GpuSpec gpu_;
};

}  // namespace simgpu::opcode_tests
