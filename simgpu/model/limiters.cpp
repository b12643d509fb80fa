#include "simgpu/model/limiters.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace simgpu::model {
namespace {

constexpr double kWarp = 32;
constexpr double kSectorBytes = 32;
constexpr double kWordBytes = 4;
/// One tag lookup per cycle: a request whose lanes touch 32 lines takes 32.
constexpr double kCyclesPerLine = 1;
/// Bytes per cycle from L2 into one SM: two sectors (measured on several generations by
/// microbenchmarks).
constexpr double kPortBytesPerCycle = 64;
/// Share of the L2's bytes per clock that reads reach in published measurements of A100 and H100.
constexpr double kL2Achievable = 0.75;

double instruction_share(const Work& work) {
  return work.busiest_share(work.balance.busiest_instructions);
}

double sector_share(const Work& work) { return work.busiest_share(work.balance.busiest_sectors); }

double shared_share(const Work& work) {
  return work.busiest_share(work.balance.busiest_wavefronts);
}

/// The busiest SM's share of the warp instructions of some classes.
double pipe_share(const Work& work, std::initializer_list<InstructionClass> classes) {
  double all = 0, of_busiest = 0;
  for (const InstructionClass cls : classes) {
    const double instructions = work.warp_instructions(cls);
    all += instructions;
    of_busiest += instructions * work.pipe_share(cls);
  }
  return all > 0 ? of_busiest / all : 0;
}

/// Cycles of the busiest SM for warp instructions of some classes, each of which occupies `lanes`
/// lanes, of which each scheduler has a quarter.
double pipe_time(const Work& work, std::initializer_list<InstructionClass> classes,
                 double warp_instructions, double lanes) {
  if (warp_instructions == 0) return 0;
  const double uneven = work.uneven_schedulers([&](const InstructionInfo& instruction) {
    double sum = 0;
    for (const InstructionClass cls : classes) sum += on_pipe(instruction, cls);
    return sum;
  });
  return work.microseconds(warp_instructions * pipe_share(work, classes) * uneven * kWarp /
                           std::max(lanes, 1.0));
}

double pipe_time(const Work& work, InstructionClass cls, double lanes) {
  return pipe_time(work, {cls}, work.warp_instructions(cls), lanes);
}

double peak(const gpu_spec::GpuSpec& gpu, std::string_view type) {
  const auto found = gpu.peak_flops.find(std::string(type));
  return found == gpu.peak_flops.end() ? 0 : found->second;
}

/// The rate at which tensor instructions of a type run. A type the GPU has no tensor rate for is
/// emulated on its CUDA cores. Data sheets give integers of 8 bits twice the rate of fp16, and fp64
/// twice that of the CUDA cores on GPUs that have fp64 tensor cores at all; smaller integers count
/// as those of 8 bits. The fp64 shape that PTX of capability 8.0 has, m8n8k4, is as slow as the
/// CUDA cores on 9.0 (0.25 a cycle and SM, measured on an H200); the data sheet of 10.0 gives fp64
/// no more at all.
double tensor_rate(const gpu_spec::GpuSpec& gpu, ptx::Type type) {
  if (type == ptx::Type::s8) return 2 * gpu.mma_share * peak(gpu, "fp16_tensor");
  if (type == ptx::Type::f64) {
    const bool has_tensor_cores = 2 * gpu.fp64_lanes_per_sm >= gpu.fp32_lanes_per_sm;
    return (has_tensor_cores && gpu.compute_capability_major == 8 ? 2 : 1) * peak(gpu, "fp64");
  }
  const char* key = "fp16_tensor";
  if (type == ptx::Type::bf16 || type == ptx::Type::bf16x2) key = "bf16_tensor";
  if (type == ptx::Type::tf32 || type == ptx::Type::f32) key = "tf32_tensor";
  const double rate = peak(gpu, key);
  return rate > 0 ? gpu.mma_share * rate : peak(gpu, "fp32");
}

/// Capability 8.0 multiplies half as many bf16 as fp16 per cycle (CUDA C++ Programming Guide,
/// "Arithmetic Instructions"); others as many.
bool has_slow_bf16(const gpu_spec::GpuSpec& gpu) {
  return gpu.compute_capability_major == 8 && gpu.compute_capability_minor == 0;
}

double bf16_instructions(const Work& work) {
  double sum = 0;
  for (std::size_t i = 0; i < work.program.size(); ++i) {
    const InstructionInfo& instruction = work.program[i];
    const bool is_bf16 =
        instruction.flop_type == ptx::Type::bf16 || instruction.flop_type == ptx::Type::bf16x2;
    if (instruction.cls != InstructionClass::fp16 || !instruction.issues || !is_bf16) continue;
    sum += static_cast<double>(work.executed[i].warps);
  }
  return sum;
}

bool has_16_load_store_units(const gpu_spec::GpuSpec& gpu) {
  return (gpu.compute_capability_major == 7 && gpu.compute_capability_minor == 5) ||
         (gpu.compute_capability_major == 8 && gpu.compute_capability_minor != 0) ||
         gpu.compute_capability_major == 12;
}

}  // namespace

double l1_bytes_per_cycle(const gpu_spec::GpuSpec& gpu) {
  constexpr double kBytesOfALane = 4;
  return kBytesOfALane * (has_16_load_store_units(gpu) ? 16 : 32);
}

double l1_cycles_per_request(const gpu_spec::GpuSpec& gpu) {
  return has_16_load_store_units(gpu) ? 2.45 : 1;
}

double as_dram_reads(double read_bytes, double written_bytes, const gpu_spec::GpuSpec& gpu) {
  return read_bytes + written_bytes * (gpu.dram_read_share / gpu.dram_write_share);
}

double dram_read_rate(const gpu_spec::GpuSpec& gpu) {
  return gpu.dram_read_share * gpu.dram_bytes_per_second;
}

double issue_time(const Work& work) {
  return work.microseconds(work.issued() * instruction_share(work) * work.uneven_schedulers() /
                           work.gpu.schedulers_per_sm);
}

double fp32_time(const Work& work) {
  return pipe_time(work, InstructionClass::fp32, work.gpu.fp32_lanes_per_sm);
}

double fp64_time(const Work& work) {
  return pipe_time(work, InstructionClass::fp64, work.gpu.fp64_lanes_per_sm);
}

double fp16_lanes(const gpu_spec::GpuSpec& gpu) {
  return peak(gpu, "fp16") / (4 * gpu.sm_count * gpu.clock_mhz * 1e6);
}

double fp16_time(const Work& work) {
  double instructions = work.warp_instructions(InstructionClass::fp16);
  if (has_slow_bf16(work.gpu)) instructions += bf16_instructions(work);
  return pipe_time(work, {InstructionClass::fp16}, instructions, fp16_lanes(work.gpu));
}

double integer_time(const Work& work) {
  return pipe_time(work, InstructionClass::integer, work.gpu.int32_lanes_per_sm);
}

double special_time(const Work& work) {
  const double instructions = work.warp_instructions(InstructionClass::special) +
                              work.warp_instructions(InstructionClass::conversion);
  return pipe_time(work, {InstructionClass::special, InstructionClass::conversion}, instructions,
                   work.gpu.sfu_lanes_per_sm);
}

double tensor_cycles(const InstructionInfo& instruction, const gpu_spec::GpuSpec& gpu) {
  const double of_a_scheduler = tensor_rate(gpu, instruction.flop_type) /
                                (1e6 * gpu.clock_mhz * gpu.sm_count * gpu.schedulers_per_sm);
  return static_cast<double>(instruction.flops_per_warp) / of_a_scheduler;
}

double tensor_time(const Work& work) {
  double seconds = 0;
  for (std::size_t i = 0; i < work.program.size(); ++i) {
    const InstructionInfo& instruction = work.program[i];
    if (instruction.cls != InstructionClass::tensor) continue;
    const double flops = static_cast<double>(instruction.flops_per_warp) *
                         static_cast<double>(work.executed[i].warps);
    seconds += flops / tensor_rate(work.gpu, instruction.flop_type);
  }
  if (seconds == 0) return 0;
  const double uneven = work.uneven_schedulers([&](const InstructionInfo& instruction) {
    if (instruction.cls != InstructionClass::tensor) return 0.0;
    return static_cast<double>(instruction.flops_per_warp) /
           tensor_rate(work.gpu, instruction.flop_type);
  });
  // The rate is that of all SMs at the boost clock; the busiest one has more than its part of the
  // work.
  return 1e6 * seconds * work.gpu.slowdown_under_load() *
         work.pipe_share(InstructionClass::tensor) * uneven * work.gpu.sm_count;
}

namespace {

double shared_loads_and_stores(const Work& work) {
  const KernelCounters& c = work.counters;
  const double wavefronts = static_cast<double>(c.shared_load_wavefronts) +
                            static_cast<double>(c.shared_store_wavefronts);
  const double conflicts = static_cast<double>(c.shared_load_bank_conflicts) +
                           static_cast<double>(c.shared_store_bank_conflicts);
  // What a request brings to the registers is the same with and without conflicts.
  const double transfers =
      (wavefronts - conflicts) * kWarp * kWordBytes / work.gpu.shared_bytes_per_cycle;
  return work.microseconds(std::max(wavefronts, transfers) * shared_share(work));
}

double l1_requests(const Work& work) {
  const KernelCounters& c = work.counters;
  const double requests =
      static_cast<double>(c.global_load_requests) + static_cast<double>(c.global_store_requests) +
      static_cast<double>(c.global_atomic_requests) + static_cast<double>(c.local_load_requests) +
      static_cast<double>(c.local_store_requests);
  const double sectors =
      static_cast<double>(c.global_load_sectors) + static_cast<double>(c.global_store_sectors) +
      static_cast<double>(c.global_atomic_sectors) + static_cast<double>(c.local_load_sectors) +
      static_cast<double>(c.local_store_sectors);
  const double addresses = requests * l1_cycles_per_request(work.gpu);
  const double lines =
      static_cast<double>(c.l1_tag_lookups) + static_cast<double>(c.local_tag_lookups);
  const double tags = kCyclesPerLine * lines;
  // Lanes that read the same bytes share a sector, but each gets them into registers of its own.
  const double bytes = std::max(sectors * kSectorBytes, static_cast<double>(c.global_load_bytes));
  const double data = bytes / l1_bytes_per_cycle(work.gpu);
  return work.microseconds(std::max({addresses, tags, data}) * sector_share(work));
}

}  // namespace

double LoadStorePipe::time_of(double part) const {
  const bool is_most = part >= std::max({l1, shared, shared_atomics, exchange});
  return is_most ? l1 + shared + shared_atomics + exchange : part;
}

LoadStorePipe load_store_pipe(const Work& work) {
  const auto atomics = static_cast<double>(work.counters.shared_atomic_wavefronts);
  return {.l1 = l1_requests(work),
          .shared = shared_loads_and_stores(work),
          .shared_atomics = work.microseconds(atomics * shared_share(work)),
          .exchange = pipe_time(work, InstructionClass::warp_exchange, kWarp)};
}

double atomics_time(const Work& work) {
  return work.microseconds(static_cast<double>(work.counters.atomic_serial_cycles));
}

double constant_time(const Work& work) {
  const double further = static_cast<double>(work.counters.constant_load_wavefronts) -
                         static_cast<double>(work.counters.constant_load_requests);
  return work.microseconds(std::max(further, 0.0) * instruction_share(work));
}

namespace {

/// Stores that fill a sector in part make L2 read, check and write the whole of it. What is missing
/// counts, so that a sector which is almost full costs next to nothing.
double partial_stores_time(const Work& work) {
  if (work.gpu.partial_sectors_per_cycle == 0) return 0;
  const KernelCounters& c = work.counters;
  const double missing = static_cast<double>(c.global_store_sectors) -
                         static_cast<double>(c.global_store_bytes) / kSectorBytes;
  return work.microseconds(std::max(missing, 0.0) / work.gpu.partial_sectors_per_cycle);
}

}  // namespace

double l2_time(const Work& work) {
  const double bytes = kSectorBytes * (static_cast<double>(work.counters.l2_read_sectors) +
                                       static_cast<double>(work.counters.l2_write_sectors));
  const double whole = 1e6 * bytes / (kL2Achievable * work.gpu.l2_bytes_per_second);
  const double port = work.microseconds(bytes * sector_share(work) / kPortBytesPerCycle);
  return std::max({whole, port, partial_stores_time(work)});
}

double dram_time(const Work& work) {
  const double bytes = as_dram_reads(static_cast<double>(work.counters.dram_read_bytes),
                                     static_cast<double>(work.counters.dram_write_bytes), work.gpu);
  return 1e6 * bytes / dram_read_rate(work.gpu);
}

LimiterTimes limiters(const Work& work) {
  const LoadStorePipe pipe = load_store_pipe(work);
  return {
      {Limiter::issue, issue_time(work)},
      {Limiter::fp32, fp32_time(work)},
      {Limiter::fp64, fp64_time(work)},
      {Limiter::fp16, fp16_time(work)},
      {Limiter::integer, integer_time(work)},
      {Limiter::special, special_time(work)},
      {Limiter::tensor, tensor_time(work)},
      {Limiter::shared, pipe.time_of(pipe.shared)},
      {Limiter::exchange, pipe.time_of(pipe.exchange)},
      {Limiter::constant, constant_time(work)},
      {Limiter::l1, pipe.time_of(pipe.l1)},
      {Limiter::l2, l2_time(work)},
      {Limiter::dram, dram_time(work)},
      {Limiter::atomics, atomics_time(work)},
      {Limiter::shared_atomics, pipe.time_of(pipe.shared_atomics)},
  };
}

}  // namespace simgpu::model
