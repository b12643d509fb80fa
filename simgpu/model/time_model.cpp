#include "simgpu/model/time_model.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "simgpu/model/latency.h"
#include "simgpu/model/limiters.h"
#include "simgpu/model/warp_path.h"
#include "simgpu/model/work.h"

namespace simgpu {
namespace {

/// How sharply the larger of throughput and latency prevails. Overlap is never perfect: where the
/// two are equal a kernel takes 2^(1/4) = 1.19 times either.
constexpr double kSharpness = 4;

double combine(double throughput, double latency, double sharpness = kSharpness) {
  const double larger = std::max(throughput, latency);
  if (larger <= 0) return 0;
  return larger *
         std::pow(std::pow(throughput / larger, sharpness) + std::pow(latency / larger, sharpness),
                  1 / sharpness);
}

/// What a block does while its own memory accesses are not under way: barriers, and waits
/// like them, keep its warps together, so that only other resident blocks can fill its stalls, and
/// these have all but 1 / resident of the work. With one resident block throughput and latency add
/// up.
double serial_part(const model::Work& work, double throughput, double stalled) {
  const std::uint64_t resident = work.is_spread
                                     ? work.resident_blocks
                                     : std::min(work.resident_blocks, work.blocks_of_busiest_sm());
  return stalled * throughput / static_cast<double>(resident);
}

/// How sharply DRAM's term prevails over the latency. Accesses wait for each other long before the
/// bandwidth is reached, but nothing waits for a store: with as many reads as writes it is the
/// GPU's number, with writes alone that of all other terms.
double dram_sharpness(const model::Work& work) {
  const auto read = static_cast<double>(work.counters.dram_read_bytes);
  const double all = read + static_cast<double>(work.counters.dram_write_bytes);
  if (all == 0) return kSharpness;
  const double waited_for = std::min(1.0, 2 * read / all);
  return kSharpness - (kSharpness - work.gpu.dram_sharpness) * waited_for;
}

/// The time that throughput and latency take together.
double busy_time(const model::Work& work, const LimiterTimes& terms, double throughput,
                 double serial, double latency) {
  const double busy = serial + combine(throughput - serial, latency);
  const double sharpness = dram_sharpness(work);
  if (sharpness >= kSharpness) return busy;
  const double dram = std::max(0.0, terms.at(Limiter::dram) - serial);
  return std::max(busy, serial + combine(dram, latency, sharpness));
}

double uneven_warps(model::Work work, double warp_cycles, double latency) {
  work.balance = {};
  const double even = model::latency_time(work, {warp_cycles, warp_cycles});
  return even > 0 ? std::max(1.0, latency / even) : 1;
}

LimiterTimes::const_iterator largest(const LimiterTimes& terms) {
  return std::ranges::max_element(terms, {}, [](const auto& term) { return term.second; });
}

double uneven_sms(model::Work work, double throughput) {
  work.balance = {};
  const double even = largest(model::limiters(work))->second;
  return even > 0 ? std::max(1.0, throughput / even) : 1;
}

}  // namespace

TimeBreakdown predict_time(const KernelCounters& counters, const LaunchShape& shape,
                           const ExecutedProgram& program, const gpu_spec::GpuSpec& gpu) {
  const model::Work work = model::gather(counters, shape, program, gpu);
  TimeBreakdown time;
  time.terms = model::limiters(work);
  const double throughput = largest(time.terms)->second;
  const double cycles = model::warp_cycles(work);
  const model::BlockCycles block = model::block_cycles(work, cycles);
  const double latency = model::latency_time(work, block);
  const double serial = serial_part(work, throughput, block.stalled);
  time.terms[Limiter::latency] = latency;
  time.uneven_warps = uneven_warps(work, cycles, latency);
  time.uneven_sms = uneven_sms(work, throughput);
  time.wave_quantisation = wave_quantisation(shape, gpu);
  time.launch_us = gpu.launch_overhead_us;
  const double busy = busy_time(work, time.terms, throughput, serial, latency);
  time.total_us = busy + time.launch_us;
  time.limiter = Limiter::launch;
  if (busy > time.launch_us) {
    time.limiter = largest(time.terms)->first;
  }
  return time;
}

double wave_quantisation(const LaunchShape& shape, const gpu_spec::GpuSpec& gpu) {
  const model::Work blocks = model::gather({}, shape, {}, gpu);
  return blocks.busiest_share(0) * gpu.sm_count;
}

double device_time_us(const KernelCounters& counters, const LaunchShape& shape,
                      const ExecutedProgram& program, const gpu_spec::GpuSpec& gpu) {
  model::Work work = model::gather(counters, shape, program, gpu);
  work.is_spread = true;
  const LimiterTimes terms = model::limiters(work);
  const double throughput = largest(terms)->second;
  const double held = static_cast<double>(work.resident_blocks) * gpu.sm_count;
  const double rounds = static_cast<double>(work.blocks) / held;
  const double cycles = model::warp_cycles(work);
  const double starts =
      gpu.cycles_per_block * static_cast<double>(work.blocks) / static_cast<double>(gpu.sm_count);
  const model::BlockCycles block = model::block_cycles(work, cycles);
  const double latency = work.microseconds(std::max(block.mean * rounds, starts));
  const double serial = serial_part(work, throughput, block.stalled);
  return busy_time(work, terms, throughput, serial, latency);
}

}  // namespace simgpu
