#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "simgpu/model/loop_nest.h"
#include "simgpu/model/machine_operations.h"
#include "simgpu/model/work.h"

/// Several warps at once on one SM: what they wait for each other's work, beside their own results.
namespace simgpu::model {

/// Blocks side by side on an SM, by machine code. All warps go the mean warp's way. Each scheduler
/// starts an instruction of one of its warps per cycle, when ptxas and the scoreboards let it and
/// the unit that executes it is free; loads, stores and shuffles of all schedulers go through one.
/// Blocks that begin together stay together, as they do on a GPU. Of a long loop some turns are
/// walked, and the later half of them stands for all others.
class SmWalks {
 public:
  /// @param work with machine code; has to outlive this
  explicit SmWalks(const Work& work);

  /// Cycles from when so many blocks begin together until the last one ends.
  /// @return nothing where even a few turns of its loops are too much to walk
  std::optional<double> cycles_of_blocks(std::uint64_t blocks) const;

 private:
  const Work& work_;
  const std::vector<Step> steps_;
  const std::vector<Operation> operations_;
};

}  // namespace simgpu::model
