#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simgpu/isa/instruction_info.h"
#include "simgpu/isa/issue_control.h"
#include "simgpu/model/work.h"

namespace simgpu::model {

/// What executes an instruction: all but the last are a scheduler's own, which an SM's schedulers
/// share.
enum class Unit : std::uint8_t { none, fma, alu, fp64, fp16, special, tensor, load_store };
inline constexpr std::size_t kUnits = static_cast<std::size_t>(Unit::load_store) + 1;

/// Cycles until a memory instruction has read its operands, once it is its turn: 9 to 20 by width
/// and memory (Huerta et al., "Analyzing Modern NVIDIA GPU Cores", 2025).
inline constexpr double kOperandsRead = 12;

/// What a machine instruction takes of an SM.
struct Operation {
  Unit unit = Unit::none;
  double busy = 0;       ///< cycles of its unit
  double port = 0;       ///< cycles of the SM's way to L2
  double latency = 0;    ///< cycles from when its unit has done that to its result
  bool fetches = false;  ///< it loads from global memory
  double recent = 0;     ///< share of its requests for what its warp has had fetched just before
  bool is_barrier = false;
  bool fences = false;
  AsyncStep step = AsyncStep::none;
  std::uint32_t groups_under_way = 0;
  IssueControl control = {};
};

/// Of each instruction; what it asks of memory is the mean of all its executions.
/// @param work with machine code
std::vector<Operation> machine_operations(const Work& work);

}  // namespace simgpu::model
