#include "simgpu/model/machine_operations.h"

#include <algorithm>

#include "simgpu/model/latency.h"
#include "simgpu/model/limiters.h"

namespace simgpu::model {
namespace {

constexpr double kWarp = 32;
constexpr double kSectorBytes = 32;
constexpr double kBankBytes = 128;  // of all banks together
/// Bytes per cycle from L2 into one SM: see l2_time().
constexpr double kPortBytesPerCycle = 64;

bool is_shared(InstructionClass cls) {
  return cls == InstructionClass::shared_load || cls == InstructionClass::shared_store ||
         cls == InstructionClass::shared_atomic;
}

bool accesses_memory(InstructionClass cls) {
  switch (cls) {
    case InstructionClass::global_load:
    case InstructionClass::global_store:
    case InstructionClass::global_atomic:
    case InstructionClass::shared_load:
    case InstructionClass::shared_store:
    case InstructionClass::shared_atomic:
    case InstructionClass::local_load:
    case InstructionClass::local_store:
    case InstructionClass::async_copy:
    case InstructionClass::generic_access:
      return true;
    default:
      return false;
  }
}

/// 16 load/store units take the addresses of 32 lanes in two cycles.
double address_cycles(const gpu_spec::GpuSpec& gpu) {
  return l1_cycles_per_request(gpu) > 1 ? 2 : 1;
}

struct Lanes {
  Unit unit = Unit::none;
  double of_sm = 0;
};

/// Those that compute for instructions of a class.
Lanes lanes_of(InstructionClass cls, const gpu_spec::GpuSpec& gpu) {
  switch (cls) {
    case InstructionClass::fp32:
      return {Unit::fma, static_cast<double>(gpu.fp32_lanes_per_sm)};
    case InstructionClass::integer:
      return {Unit::alu, static_cast<double>(gpu.int32_lanes_per_sm)};
    case InstructionClass::fp64:
      return {Unit::fp64, static_cast<double>(gpu.fp64_lanes_per_sm)};
    case InstructionClass::fp16:
      return {Unit::fp16, fp16_lanes(gpu)};
    case InstructionClass::special:
    case InstructionClass::conversion:
      return {Unit::special, static_cast<double>(gpu.sfu_lanes_per_sm)};
    default:
      return {};
  }
}

class Operations {
 public:
  explicit Operations(const Work& work) : work_(work) {}

  Operation of(std::size_t i) const {
    const InstructionInfo& info = work_.program[i];
    const LoadCounts loads = work_.loads_of(i);
    Operation operation{.latency = latency_of(i, work_),
                        .fetches = loads.requests > 0,
                        .recent = recent_share(loads),
                        .is_barrier = info.cls == InstructionClass::barrier,
                        .fences = info.fences,
                        .step = info.async_step,
                        .groups_under_way = info.groups_under_way,
                        .control = work_.control[i]};
    if (info.cls == InstructionClass::tensor) {
      operation.unit = Unit::tensor;
      operation.busy = tensor_cycles(info, work_.gpu);
    } else if (info.cls == InstructionClass::warp_exchange) {
      operation.unit = Unit::load_store;
      operation.busy = 1;
    } else if (accesses_memory(info.cls)) {
      take_memory(i, operation);
    } else if (const Lanes lanes = lanes_of(info.cls, work_.gpu); lanes.unit != Unit::none) {
      operation.unit = lanes.unit;
      operation.busy = kWarp * work_.gpu.schedulers_per_sm / std::max(lanes.of_sm, 1.0);
    }
    return operation;
  }

 private:
  /// What the banks, the tags and the ways of data take of the load/store unit, one after the
  /// other, as in load_store_pipe().
  void take_memory(std::size_t i, Operation& operation) const {
    const gpu_spec::GpuSpec& gpu = work_.gpu;
    const InstructionClass cls = work_.program[i].cls;
    operation.unit = Unit::load_store;
    operation.busy = 1;
    // Wavefronts that come before its data are what the unit is busy with.
    if (is_shared(cls)) operation.latency = gpu.shared_latency;
    if (i >= work_.accesses.size() || work_.executed[i].warps == 0) return;
    const AccessCounts& own = work_.accesses[i];
    const auto each = [&](std::uint64_t count) {
      return static_cast<double>(count) / static_cast<double>(work_.executed[i].warps);
    };
    const double words = each(own.wavefronts) - each(own.conflicts);
    const double banks =
        std::max({each(own.wavefronts), words * kBankBytes / gpu.shared_bytes_per_cycle,
                  each(own.bank_requests) * address_cycles(gpu)});
    const double bytes = std::max(each(own.sectors) * kSectorBytes, each(own.bytes));
    const double l1 = std::max({each(own.requests) * l1_cycles_per_request(gpu), each(own.lines),
                                bytes / l1_bytes_per_cycle(gpu)});
    operation.busy = banks + l1;
    operation.port = (each(own.sectors) - each(own.l1_hits)) * kSectorBytes / kPortBytesPerCycle;
  }

  const Work& work_;
};

}  // namespace

std::vector<Operation> machine_operations(const Work& work) {
  const Operations operations(work);
  std::vector<Operation> all;
  all.reserve(work.program.size());
  for (std::size_t i = 0; i < work.program.size(); ++i) all.push_back(operations.of(i));
  return all;
}

}  // namespace simgpu::model
