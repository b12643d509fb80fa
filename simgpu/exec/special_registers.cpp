#include <map>

#include "simgpu/exec/lanes.h"
#include "simgpu/exec/thread_block.h"

/// The special registers: what a thread reads of its place, of the clock and of the launch.
namespace simgpu {
namespace {

template <class T>
void spread(Warp& warp, const Lowered* in, T value) {
  for (std::uint32_t left = warp.mask; left != 0; left &= left - 1) {
    slot<T>(warp, in->dst)[__builtin_ctz(left)] = value;
  }
}

template <unsigned kAxis>
const Lowered* thread_index(const Lowered* in, Warp& warp) {
  const std::uint32_t* const from = warp.block->position.thread_coordinate(warp.index, kAxis);
  blend(words(warp, in->dst), reinterpret_cast<const Word32*>(from), warp.mask);
  return in + 1;
}

std::uint32_t axis_of(const Dim3& dimensions, unsigned axis) {
  return axis == 0 ? dimensions.x : axis == 1 ? dimensions.y : dimensions.z;
}

/// Values that are the same for the whole warp.
enum class Uniform : std::uint32_t {
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  warpid,
  nwarpid,
  smid,
  nsmid,
  clock,
  clock_hi,
  dynamic_shared,
  total_shared,
  workspace_high,
  workspace_low,
  zero,
  one,
};

std::uint32_t uniform_value(Uniform what, const Lowered* in, const Warp& warp) {
  const ThreadBlock& block = *warp.block;
  const LaunchRequest& request = block.launch.request;
  const auto index = static_cast<unsigned>(what);
  switch (what) {
    case Uniform::ntid_x:
    case Uniform::ntid_y:
    case Uniform::ntid_z:
      return axis_of(request.block, index);
    case Uniform::ctaid_x:
    case Uniform::ctaid_y:
    case Uniform::ctaid_z:
      return axis_of(block.position.index(), index - 3);
    case Uniform::nctaid_x:
    case Uniform::nctaid_y:
    case Uniform::nctaid_z:
      return axis_of(request.grid, index - 6);
    case Uniform::warpid:
      return warp.index;
    case Uniform::nwarpid:
      return static_cast<std::uint32_t>(block.launch.gpu.max_warps_per_sm);
    case Uniform::smid:
      return static_cast<std::uint32_t>(block.position.block() %
                                        static_cast<unsigned>(block.launch.gpu.sm_count));
    case Uniform::nsmid:
      return static_cast<std::uint32_t>(block.launch.gpu.sm_count);
    case Uniform::clock:
      return static_cast<std::uint32_t>(warp.clock - in->block_length);
    case Uniform::clock_hi:
      return static_cast<std::uint32_t>(warp.clock >> 32);
    case Uniform::dynamic_shared:
      return request.dynamic_shared_bytes;
    case Uniform::total_shared:
      // In units of 128 bytes, as an H200 tells it.
      return (block.memory.shared_bytes() + 127) / 128 * 128;
    case Uniform::workspace_high:
      return static_cast<std::uint32_t>(request.grid_workspace >> 32);
    case Uniform::workspace_low:
      return static_cast<std::uint32_t>(request.grid_workspace);
    case Uniform::zero:
      return 0;
    case Uniform::one:
      return 1;
  }
  return 0;
}

const Lowered* uniform(const Lowered* in, Warp& warp) {
  spread<std::uint32_t>(warp, in, uniform_value(static_cast<Uniform>(in->option), in, warp));
  return in + 1;
}

/// A loop that looks at the time ends some day, whatever else it reads.
void looks_at_time(Warp& warp) { warp.waiting_turns = 0; }

/// %clock64: this warp's instructions so far, as cycles.
const Lowered* clock64(const Lowered* in, Warp& warp) {
  looks_at_time(warp);
  spread<std::uint64_t>(warp, in, warp.clock - in->block_length);
  return in + 1;
}

std::uint64_t nanoseconds(const Lowered* in, const Warp& warp) {
  const LaunchContext& launch = warp.block->launch;
  const double cycles = static_cast<double>(warp.clock - in->block_length);
  const double ns = launch.request.clock_us * 1e3 + cycles * 1e3 / launch.gpu.clock_mhz;
  return static_cast<std::uint64_t>(ns);
}

const Lowered* global_timer(const Lowered* in, Warp& warp) {
  looks_at_time(warp);
  spread<std::uint64_t>(warp, in, nanoseconds(in, warp));
  return in + 1;
}

/// Half of %globaltimer: option is how far it lies up.
const Lowered* half_of_timer(const Lowered* in, Warp& warp) {
  looks_at_time(warp);
  spread<std::uint32_t>(warp, in, static_cast<std::uint32_t>(nanoseconds(in, warp) >> in->option));
  return in + 1;
}

const Lowered* zero64(const Lowered* in, Warp& warp) {
  spread<std::uint64_t>(warp, in, 0);
  return in + 1;
}

/// Values that depend on the lane alone.
enum class OfLane : std::uint32_t { id, mask_eq, mask_lt, mask_le, mask_gt, mask_ge };

const Lowered* of_lane(const Lowered* in, Warp& warp) {
  for (std::uint32_t left = warp.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(left));
    const std::uint32_t bit = 1U << lane;
    std::uint32_t value = lane;
    switch (static_cast<OfLane>(in->option)) {
      case OfLane::id:
        value = lane;
        break;
      case OfLane::mask_eq:
        value = bit;
        break;
      case OfLane::mask_lt:
        value = bit - 1;
        break;
      case OfLane::mask_le:
        value = bit | (bit - 1);
        break;
      case OfLane::mask_gt:
        value = ~(bit | (bit - 1));
        break;
      case OfLane::mask_ge:
        value = ~(bit - 1);
        break;
    }
    words(warp, in->dst)[lane] = value;
  }
  return in + 1;
}

}  // namespace

namespace hidden {

Handler special_register(std::string_view name, std::uint32_t& option) {
  static const std::map<std::string, Uniform, std::less<>> kUniform{
      {"%ntid.x", Uniform::ntid_x},
      {"%ntid.y", Uniform::ntid_y},
      {"%ntid.z", Uniform::ntid_z},
      {"%ctaid.x", Uniform::ctaid_x},
      {"%ctaid.y", Uniform::ctaid_y},
      {"%ctaid.z", Uniform::ctaid_z},
      {"%nctaid.x", Uniform::nctaid_x},
      {"%nctaid.y", Uniform::nctaid_y},
      {"%nctaid.z", Uniform::nctaid_z},
      {"%warpid", Uniform::warpid},
      {"%nwarpid", Uniform::nwarpid},
      {"%smid", Uniform::smid},
      {"%nsmid", Uniform::nsmid},
      {"%clock", Uniform::clock},
      {"%clock_hi", Uniform::clock_hi},
      {"%dynamic_smem_size", Uniform::dynamic_shared},
      {"%total_smem_size", Uniform::total_shared},
      // As cooperative_groups/details/driver_abi.h reads them.
      {"%envreg0", Uniform::zero},
      {"%envreg1", Uniform::workspace_high},
      {"%envreg2", Uniform::workspace_low},
      // A launch without clusters has clusters of one block.
      {"%cluster_ctaid.x", Uniform::zero},
      {"%cluster_ctaid.y", Uniform::zero},
      {"%cluster_ctaid.z", Uniform::zero},
      {"%cluster_ctarank", Uniform::zero},
      {"%cluster_nctaid.x", Uniform::one},
      {"%cluster_nctaid.y", Uniform::one},
      {"%cluster_nctaid.z", Uniform::one},
      {"%cluster_nctarank", Uniform::one},
      {"%clusterid.x", Uniform::ctaid_x},
      {"%clusterid.y", Uniform::ctaid_y},
      {"%clusterid.z", Uniform::ctaid_z},
      {"%nclusterid.x", Uniform::nctaid_x},
      {"%nclusterid.y", Uniform::nctaid_y},
      {"%nclusterid.z", Uniform::nctaid_z}};
  static const std::map<std::string, OfLane, std::less<>> kOfLane{
      {"%laneid", OfLane::id},           {"%lanemask_eq", OfLane::mask_eq},
      {"%lanemask_lt", OfLane::mask_lt}, {"%lanemask_le", OfLane::mask_le},
      {"%lanemask_gt", OfLane::mask_gt}, {"%lanemask_ge", OfLane::mask_ge}};
  if (name == "%tid.x") return &thread_index<0>;
  if (name == "%tid.y") return &thread_index<1>;
  if (name == "%tid.z") return &thread_index<2>;
  if (name == "%clock64") return &clock64;
  if (name == "%globaltimer") return &global_timer;
  if (name == "%gridid") return &zero64;
  if (name == "%globaltimer_lo" || name == "%globaltimer_hi") {
    option = name == "%globaltimer_lo" ? 0 : 32;
    return &half_of_timer;
  }
  if (const auto found = kOfLane.find(name); found != kOfLane.end()) {
    option = static_cast<std::uint32_t>(found->second);
    return &of_lane;
  }
  if (const auto found = kUniform.find(name); found != kUniform.end()) {
    option = static_cast<std::uint32_t>(found->second);
    return &uniform;
  }
  return nullptr;
}

std::string purpose_of_register(std::string_view name) {
  static const std::vector<std::pair<std::string_view, std::string>> kPurposes{
      {"%envreg", "grid synchronisation, in cooperative launches"},
      {"%is_explicit_cluster", "clusters of thread blocks"},
      {"%aggr_smem", "shared memory that the driver reserves"},
      {"%reserved_smem", "shared memory that the driver reserves"},
      {"%current_graph_exec", "CUDA graphs launched by kernels"},
      {"%pm", "the hardware's performance counters"}};
  for (const auto& [prefix, purpose] : kPurposes) {
    if (name.starts_with(prefix)) return " (" + purpose + ")";
  }
  return "";
}

}  // namespace hidden

}  // namespace simgpu
