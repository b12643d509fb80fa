#include "benchmark.h"

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "grader/contract/guest_call.h"
#include "toolkit/check.h"

// The store keeps the compiler from dropping the loop; the sum never gets there.
__device__ void keep_busy(std::int64_t steps, float* never_written) {
  float value = static_cast<float>(threadIdx.x);
  for (std::int64_t i = 0; i < steps; ++i) value = value * 0.999f + 0.5f;
  if (value < 0.0f) *never_written = value;
}

// Loads of known length for the student's stopwatch. The oracle finds their launches by this name
// and compares what the device saw with what the student's function returned.
__global__ void rooflab_benchmark_load(std::int64_t steps, float* never_written) {
  keep_busy(steps, never_written);
}

// The same for the adapter's own stopwatch, which stands in where the device keeps no records.
__global__ void rooflab_reference_load(std::int64_t steps, float* never_written) {
  keep_busy(steps, never_written);
}

namespace {

using rooflab::GuestCall;

// Steps of a call's launches: those of the first `cold_calls` calls take `cold_factor` times as
// long, as first calls do. With more of them than calls to warm up, timed calls differ in length,
// and so they do with `further_steps`, which gives calls eight lengths in no order.
std::int64_t steps_of(const GuestCall& call, std::int64_t number) {
  const std::int64_t length = 5 * number % 8;
  const std::int64_t steps = call.integer("steps") + call.integer("further_steps") * length;
  return number < call.integer("cold_calls") ? steps * call.integer("cold_factor") : steps;
}

class Load {
 public:
  explicit Load(const GuestCall& call) : call_(call) {}

  void operator()() {
    const std::int64_t steps = steps_of(call_, calls_++);
    for (std::int64_t i = 0; i < call_.integer("launches_per_call"); ++i) {
      rooflab_benchmark_load<<<1, 32>>>(steps, nullptr);
      CUDA_CHECK(cudaGetLastError());
    }
  }
  std::int64_t calls() const { return calls_; }

 private:
  const GuestCall& call_;
  std::int64_t calls_ = 0;
};

// A kernel's first launch also loads it. These come before anybody's stopwatch, and take no step.
void load_kernels() {
  rooflab_benchmark_load<<<1, 32>>>(0, nullptr);
  rooflab_reference_load<<<1, 32>>>(0, nullptr);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
}

// Times of as many calls, one by one, for where the device keeps no records: reference_0 and so on,
// in milliseconds.
void pass_on_reference(GuestCall& call) {
  const std::int64_t calls = call.integer("n_repeat");
  std::vector<cudaEvent_t> marks(static_cast<std::size_t>(calls) + 1);
  for (cudaEvent_t& mark : marks) CUDA_CHECK(cudaEventCreate(&mark));
  CUDA_CHECK(cudaEventRecord(marks.front()));
  for (std::int64_t i = 0; i < calls; ++i) {
    const std::int64_t steps = steps_of(call, call.integer("n_warmup") + i);
    for (std::int64_t j = 0; j < call.integer("launches_per_call"); ++j) {
      rooflab_reference_load<<<1, 32>>>(steps, nullptr);
      CUDA_CHECK(cudaGetLastError());
    }
    CUDA_CHECK(cudaEventRecord(marks[static_cast<std::size_t>(i) + 1]));
  }
  CUDA_CHECK(cudaEventSynchronize(marks.back()));
  for (std::size_t i = 0; i + 1 < marks.size(); ++i) {
    float milliseconds = 0.0f;
    CUDA_CHECK(cudaEventElapsedTime(&milliseconds, marks[i], marks[i + 1]));
    call.result("reference_" + std::to_string(i), static_cast<double>(milliseconds));
  }
  for (cudaEvent_t mark : marks) CUDA_CHECK(cudaEventDestroy(mark));
}

void measure_latency(GuestCall& call) {
  load_kernels();
  Load load(call);
  const Latency latency =
      benchmark_latency([&] { load(); }, static_cast<int>(call.integer("n_warmup")),
                        static_cast<int>(call.integer("n_repeat")));
  CUDA_CHECK(cudaDeviceSynchronize());
  call.result("mean", latency.mean);
  call.result("standard_deviation", latency.standard_deviation);
  call.result("median", latency.median);
  call.result("calls", load.calls());
  pass_on_reference(call);
}

// An allocation from the default pool, freed in stream order.
class PoolBuffer {
 public:
  explicit PoolBuffer(std::int64_t bytes) {
    CUDA_CHECK(cudaMallocAsync(&memory_, static_cast<std::size_t>(bytes), nullptr));
  }
  ~PoolBuffer() { cudaFreeAsync(memory_, nullptr); }
  PoolBuffer(const PoolBuffer&) = delete;
  PoolBuffer& operator=(const PoolBuffer&) = delete;

 private:
  void* memory_ = nullptr;
};

void measure_memory(GuestCall& call) {
  // What was there before: memory that stays in use, some that the call itself gives back, and an
  // earlier peak, whose end is still under way: who does not wait for it counts it or not by
  // chance.
  const PoolBuffer held(call.integer("held_before"));
  std::unique_ptr<PoolBuffer> freed;
  if (call.integer("freed") > 0) freed = std::make_unique<PoolBuffer>(call.integer("freed"));
  { const PoolBuffer earlier(call.integer("earlier_peak")); }

  std::unique_ptr<PoolBuffer> kept;
  std::int64_t calls = 0;
  const MemoryUsage usage = benchmark_memory([&] {
    ++calls;
    freed.reset();
    kept = std::make_unique<PoolBuffer>(call.integer("kept"));
    { const PoolBuffer first(call.integer("first")); }
    { const PoolBuffer second(call.integer("second")); }
  });
  call.result("peak_bytes", static_cast<std::int64_t>(usage.peak_bytes));
  call.result("allocated_bytes", static_cast<std::int64_t>(usage.allocated_bytes));
  call.result("calls", calls);
}

}  // namespace

ROOFLAB_ENTRY(benchmark) {
  const std::string& function = call.text("function");
  if (function == "benchmark_latency") return measure_latency(call);
  if (function == "benchmark_memory") return measure_memory(call);
  throw std::invalid_argument("part.toml names no such function: " + function);
}
