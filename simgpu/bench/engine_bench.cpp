#include <benchmark/benchmark.h>

#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "simgpu/exec/engine.h"
#include "simgpu/isa/lowered.h"
#include "simgpu/provenance/provenance.h"
#include "simgpu/ptx/parser.h"
#include "specs/gpu_spec.h"

/// Speed of the engine in warp instructions per second, on kernels that nvcc compiled.
namespace {

using namespace simgpu;  // NOLINT(google-build-using-namespace): a benchmark of this namespace

std::string read_file(const char* path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(std::string("cannot read ") + path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// What a run has besides its kernel.
struct Settings {
  bool checkers = false;
  unsigned workers = 1;
  bool sampled = false;
  bool followed = false;  ///< which loads go into each value
};

EngineOptions options_of(const Settings& settings) {
  EngineOptions options;
  options.checkers = settings.checkers;
  options.workers = settings.workers;
  options.sampled = settings.sampled;
  return options;
}

struct Arguments {
  std::uint64_t a, b, c;
  std::int32_t m, n, k;
};

/// How a kernel is launched: threads of a block, and its square of the result.
struct Block {
  Dim3 threads;
  std::uint32_t tile;
};
const Block kPlainBlock{{32, 32, 1}, 32};
const Block kTensorBlock{{128, 1, 1}, 64};

void run_gemm(benchmark::State& state, const char* kernel, const Settings& settings,
              const Block& block = kPlainBlock) {
  const auto size = static_cast<std::uint32_t>(state.range(0));
  const std::uint64_t bytes = std::uint64_t{4} * size * size;
  DeviceMemory memory(std::uint64_t{1} << 32);
  Arguments arguments{};
  arguments.a = memory.allocate(bytes, "a").value();
  arguments.b = memory.allocate(bytes, "b").value();
  arguments.c = memory.allocate(bytes, "c").value();
  arguments.m = arguments.n = arguments.k = static_cast<std::int32_t>(size);
  const std::vector<float> values(std::size_t{size} * size, 0.5F);
  memory.write(arguments.a, std::as_bytes(std::span(values)));
  memory.write(arguments.b, std::as_bytes(std::span(values)));
  std::vector<std::byte> parameters(36);
  std::memcpy(parameters.data(), &arguments, parameters.size());

  const auto program = lower(ptx::parse(read_file(SIMGPU_BENCH_PTX)), {});
  LaunchRequest request;
  request.kernel = kernel;
  request.grid = {(size + block.tile - 1) / block.tile, (size + block.tile - 1) / block.tile, 1};
  request.block = block.threads;
  request.parameters = parameters;
  request.resident_blocks = 216;
  request.l1_bytes_per_block = 64 << 10;
  EngineOptions options = options_of(settings);
  const gpu_spec::GpuSpec gpu = gpu_spec::load(SIMGPU_BENCH_GPU);
  std::uint64_t instructions = 0;
  std::uint64_t tensor_instructions = 0;
  for (auto _ : state) {
    Provenance provenance;
    if (settings.followed) options.observer = &provenance;
    const LaunchResult result = execute(*program, request, memory, gpu, options);
    if (result.status != LaunchStatus::ok) state.SkipWithError("the kernel failed");
    instructions += result.counters.warp_instructions;
    const auto tensor = result.counters.instructions_by_class.find("tensor");
    if (tensor != result.counters.instructions_by_class.end())
      tensor_instructions += tensor->second;
    if (settings.followed) state.counters["bytes"] = static_cast<double>(provenance.bytes());
  }
  state.counters["warp_instructions/s"] =
      benchmark::Counter(static_cast<double>(instructions), benchmark::Counter::kIsRate);
  state.counters["mma/s"] =
      benchmark::Counter(static_cast<double>(tensor_instructions), benchmark::Counter::kIsRate);
}

constexpr Settings kPlain{};
constexpr Settings kChecked{.checkers = true};
constexpr Settings kFollowed{.checkers = true, .followed = true};

BENCHMARK_CAPTURE(run_gemm, tiled, "tiled_sgemm", kPlain)->Arg(256)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_gemm, tiled_checked, "tiled_sgemm", kChecked)
    ->Arg(256)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_gemm, naive_checked, "naive_sgemm", kChecked)
    ->Arg(256)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_gemm, naive, "naive_sgemm", kPlain)->Arg(256)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_gemm, tiled_two_workers, "tiled_sgemm", {.workers = 2})
    ->Arg(1024)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->MeasureProcessCPUTime()
    ->Iterations(1);
BENCHMARK_CAPTURE(run_gemm, tiled_checked_two_workers, "tiled_sgemm",
                  {.checkers = true, .workers = 2})
    ->Arg(1024)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->MeasureProcessCPUTime()
    ->Iterations(1);

BENCHMARK_CAPTURE(run_gemm, tiled_followed, "tiled_sgemm", kFollowed)
    ->Arg(64)
    ->Arg(128)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_gemm, tiled_small_checked, "tiled_sgemm", kChecked)
    ->Arg(64)
    ->Arg(128)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_gemm, naive_followed, "naive_sgemm", kFollowed)
    ->Arg(64)
    ->Arg(128)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_gemm, mma_followed, "mma_gemm", kFollowed, kTensorBlock)
    ->Arg(128)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_gemm, mma_small_checked, "mma_gemm", kChecked, kTensorBlock)
    ->Arg(128)
    ->Unit(benchmark::kMillisecond);

BENCHMARK_CAPTURE(run_gemm, mma, "mma_gemm", kPlain, kTensorBlock)
    ->Arg(512)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_gemm, mma_checked, "mma_gemm", kChecked, kTensorBlock)
    ->Arg(512)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_gemm, wmma_checked, "wmma_gemm", kChecked, kTensorBlock)
    ->Arg(512)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_gemm, wmma, "wmma_gemm", kPlain, kTensorBlock)
    ->Arg(512)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_gemm, tiled_sampled, "tiled_sgemm", {.sampled = true})
    ->Arg(1024)
    ->Arg(4096)
    ->Arg(8192)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->Iterations(1);

/// Arguments: length, heads.
void run_flash(benchmark::State& state, const char* kernel, std::uint64_t d,
               const Settings& settings) {
  const auto length = static_cast<std::uint32_t>(state.range(0));
  const auto heads = static_cast<std::uint32_t>(state.range(1));
  DeviceMemory memory(std::uint64_t{4} << 30);
  std::vector<std::byte> parameters(36);
  for (std::size_t i = 0; i < 4; ++i) {
    const std::uint64_t address = memory.allocate(4 * heads * length * d, "tensor").value();
    std::memcpy(&parameters[8 * i], &address, sizeof address);
  }
  std::memcpy(&parameters[32], &length, sizeof length);
  const auto program = lower(ptx::parse(read_file(SIMGPU_BENCH_PTX)), {});
  LaunchRequest request;
  request.kernel = kernel;
  request.grid = {length / 64, heads, 1};
  request.block = {32, 4, 1};
  request.dynamic_shared_bytes = static_cast<std::uint32_t>(4 * 64 * d);
  request.parameters = parameters;
  request.resident_blocks = 216;
  request.l1_bytes_per_block = 16 << 10;
  const EngineOptions options = options_of(settings);
  const gpu_spec::GpuSpec gpu = gpu_spec::load(SIMGPU_BENCH_GPU);
  std::uint64_t instructions = 0;
  for (auto _ : state) {
    const LaunchResult result = execute(*program, request, memory, gpu, options);
    if (result.status != LaunchStatus::ok) state.SkipWithError("the kernel failed");
    if (settings.sampled != (result.sampled_blocks != 0)) state.SkipWithError("sampled or not");
    instructions += result.counters.warp_instructions;
    state.counters["blocks_run"] = static_cast<double>(result.sampled_blocks);
  }
  state.counters["warp_instructions"] = static_cast<double>(instructions);
  state.counters["warp_instructions/s"] =
      benchmark::Counter(static_cast<double>(instructions), benchmark::Counter::kIsRate);
}

BENCHMARK_CAPTURE(run_flash, d64, "flash64", 64U, kPlain)
    ->Args({1024, 1})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);
BENCHMARK_CAPTURE(run_flash, d64_two_workers, "flash64", 64U, {.workers = 2})
    ->Args({1024, 4})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->MeasureProcessCPUTime()
    ->Iterations(1);
BENCHMARK_CAPTURE(run_flash, d64_sampled, "flash64", 64U, {.sampled = true})
    ->Args({1024, 4})
    ->Args({2048, 4})
    ->Args({4096, 4})
    ->Args({8192, 4})
    ->Args({8192, 16})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);
BENCHMARK_CAPTURE(run_flash, d128_sampled, "flash128", 128U, {.sampled = true})
    ->Args({4096, 16})
    ->Args({8192, 4})
    ->Args({8192, 16})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);

}  // namespace

BENCHMARK_MAIN();
