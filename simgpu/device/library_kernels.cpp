#include "simgpu/device/library_kernels.h"

#include <algorithm>
#include <utility>

#include "simgpu/device/launch_choices.h"
#include "simgpu/model/limiters.h"

namespace simgpu {
namespace {

/// A product by its tiles; other routines divide their work evenly.
model::ProductSplit split_of(const LibraryKernel& kernel, const gpu_spec::GpuSpec& gpu) {
  if (kernel.product) return model::fastest_split(*kernel.product, gpu);
  const double rate = model::library_efficiency(kernel.flop_type, gpu) *
                      model::arithmetic_rate(kernel.flop_type, gpu);
  return {.grid = {static_cast<std::uint32_t>(std::max(gpu.sm_count, 1)), 1, 1},
          .compute_us = rate > 0 ? kernel.flops / rate * 1e6 : 0};
}

std::uint64_t counted(double count) { return static_cast<std::uint64_t>(std::min(count, 1e18)); }

/// @param timed_gpu as what is issued now finds it
KernelRecord record_of(const LibraryKernel& kernel, const gpu_spec::GpuSpec& gpu,
                       const gpu_spec::GpuSpec& timed_gpu) {
  const model::ProductSplit split = split_of(kernel, gpu);
  KernelRecord record;
  record.name = kernel.name;
  record.library_routine = true;
  record.grid = split.grid;
  record.block = {256, 1, 1};
  record.counters.flops[kernel.flop_type] = counted(std::max(kernel.flops, 0.0));
  record.counters.dram_read_bytes = counted(kernel.read_bytes);
  record.counters.dram_write_bytes = counted(kernel.stored_bytes);
  record.counters.global_store_bytes = counted(kernel.stored_bytes);
  const double compute_us = split.compute_us;
  const double dram_rate = model::dram_read_rate(gpu);
  const double bytes = model::as_dram_reads(kernel.read_bytes, kernel.stored_bytes, gpu);
  const double dram_us = dram_rate > 0 ? bytes / dram_rate * 1e6 : 0;
  const double busiest = std::max(compute_us, dram_us);
  const Limiter arithmetic = arithmetic_limiter(kernel.flop_type);
  record.time.terms = {{arithmetic, compute_us}, {Limiter::dram, dram_us}};
  record.time.launch_us = timed_gpu.launch_overhead_us;
  record.time.total_us = busiest + record.time.launch_us;
  record.time.limiter = busiest < record.time.launch_us ? Limiter::launch
                        : compute_us >= dram_us         ? arithmetic
                                                        : Limiter::dram;
  add_host_traffic(kernel.host, timed_gpu, record.time);
  return record;
}

}  // namespace

void LibraryKernels::fail(Finding why) {
  const LaunchStatus status = why.code.status();
  log_.add(std::move(why));
  fault_.raise(status);
}

CudaError LibraryKernels::finish(const LibraryKernel& kernel, std::uint64_t stream) {
  timeline_.spend(ApiCost::kLaunch);
  if (!timeline_.has_stream(stream)) return CudaError::invalid_resource_handle;
  since_mark_.unsettle();
  since_mark_.left_blocks_out = since_mark_.left_blocks_out || options_.sampled;
  KernelRecord record = record_of(kernel, gpu_, streams_.timed_gpu());
  record.sequence = log_.next_sequence();
  record.sampled = options_.sampled;
  if (kernel.host.pinned_bytes + kernel.host.managed_bytes > 0) streams_.forget_host_sources();
  log_.count_given(LaunchChoices::kOfARoutine);
  const bool is_told = kernel.touched && (streams_.wants_places() || streams_.watches(stream));
  std::vector<StreamRaces::Range> touched;
  if (is_told) touched = kernel.touched();
  const Picoseconds start =
      streams_.issue(stream, Timeline::Engine::compute, picoseconds(record.time.total_us),
                     streams_.places_of(touched));
  if (is_told && streams_.watches(stream)) {
    streams_.note_work(
        {.kind = StreamWork::library_call, .name = kernel.name, .ranges = std::move(touched)});
  }
  record.start_us = microseconds(start);
  record.stream = timeline_.stream_number(stream);
  log_.add(std::move(record));
  return CudaError::success;
}

}  // namespace simgpu
