#include "simgpu/model/time_model.h"

#include <algorithm>

#include "simgpu/model/busy_time.h"
#include "simgpu/model/latency.h"
#include "simgpu/model/limiters.h"
#include "simgpu/model/warp_path.h"
#include "simgpu/model/work.h"

namespace simgpu {
namespace {

double uneven_warps(model::Work work, double warp_cycles, double latency) {
  work.balance = {};
  const double even = model::latency_time(work, {warp_cycles, warp_cycles});
  return even > 0 ? std::max(1.0, latency / even) : 1;
}

double uneven_sms(model::Work work, double throughput) {
  work.balance = {};
  const double even = model::largest_of(model::limiters(work));
  return even > 0 ? std::max(1.0, throughput / even) : 1;
}

}  // namespace

TimeBreakdown predict_time(const KernelCounters& counters, const LaunchShape& shape,
                           const ExecutedProgram& program, const gpu_spec::GpuSpec& gpu) {
  return predict(model::gather(counters, shape, program, gpu)).time;
}

PredictedTime predict(const model::Work& work) {
  const gpu_spec::GpuSpec& gpu = work.gpu;
  PredictedTime predicted;
  TimeBreakdown& time = predicted.time;
  time.terms = model::limiters(work);
  const double throughput = model::largest_of(time.terms);
  const double cycles = model::warp_cycles(work);
  const model::BlockCycles block = model::block_cycles(work, cycles);
  const double latency = model::latency_time(work, block);
  const double serial = model::serial_part(work, throughput, block.stalled);
  time.terms[Limiter::latency] = latency;
  time.uneven_warps = uneven_warps(work, cycles, latency);
  time.uneven_sms = uneven_sms(work, throughput);
  time.wave_quantisation = work.busiest_share(0) * gpu.sm_count;
  time.launch_us = gpu.launch_overhead_us;
  predicted.busy = model::busy_time(work, time.terms, serial, latency);
  predicted.waits_for_longest_block =
      block.longest > block.mean * static_cast<double>(model::rounds(work));
  const double busy = predicted.busy.total();
  time.total_us = busy + time.launch_us;
  time.limiter = Limiter::launch;
  if (busy > time.launch_us) {
    time.limiter = std::ranges::max_element(time.terms, {}, [](const auto& term) {
                     return term.second;
                   })->first;
  }
  return predicted;
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
  const double throughput = model::largest_of(terms);
  const double held = static_cast<double>(work.resident_blocks) * gpu.sm_count;
  const double rounds = static_cast<double>(work.blocks) / held;
  const double cycles = model::warp_cycles(work);
  const double starts =
      gpu.cycles_per_block * static_cast<double>(work.blocks) / static_cast<double>(gpu.sm_count);
  const model::BlockCycles block = model::block_cycles(work, cycles);
  const double latency = work.microseconds(std::max(block.mean * rounds, starts));
  const double serial = model::serial_part(work, throughput, block.stalled);
  return model::busy_time(work, terms, serial, latency).total();
}

}  // namespace simgpu
