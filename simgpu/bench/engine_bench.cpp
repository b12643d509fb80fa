#include <benchmark/benchmark.h>

#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "simgpu/exec/engine.h"
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

struct Arguments {
  std::uint64_t a, b, c;
  std::int32_t m, n, k;
};

void run_gemm(benchmark::State& state, const char* kernel, bool checkers, unsigned workers,
              bool sampled = false) {
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
  request.grid = {(size + 31) / 32, (size + 31) / 32, 1};
  request.block = {32, 32, 1};
  request.parameters = parameters;
  request.resident_blocks = 216;
  request.l1_bytes_per_block = 64 << 10;
  EngineOptions options;
  options.checkers = checkers;
  options.workers = workers;
  options.sampled = sampled;
  const gpu_spec::GpuSpec gpu = gpu_spec::load(SIMGPU_BENCH_GPU);
  std::uint64_t instructions = 0;
  for (auto _ : state) {
    const LaunchResult result = execute(*program, request, memory, gpu, options);
    if (result.status != LaunchStatus::ok) state.SkipWithError("the kernel failed");
    instructions += result.counters.warp_instructions;
  }
  state.counters["warp_instructions/s"] =
      benchmark::Counter(static_cast<double>(instructions), benchmark::Counter::kIsRate);
}

BENCHMARK_CAPTURE(run_gemm, tiled, "tiled_sgemm", false, 1U)
    ->Arg(256)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_gemm, tiled_checked, "tiled_sgemm", true, 1U)
    ->Arg(256)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_gemm, naive, "naive_sgemm", false, 1U)
    ->Arg(256)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_gemm, tiled_two_workers, "tiled_sgemm", false, 2U)
    ->Arg(1024)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->Iterations(1);
BENCHMARK_CAPTURE(run_gemm, tiled_checked_two_workers, "tiled_sgemm", true, 2U)
    ->Arg(1024)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->Iterations(1);

BENCHMARK_CAPTURE(run_gemm, tiled_sampled, "tiled_sgemm", false, 1U, true)
    ->Arg(1024)
    ->Arg(4096)
    ->Arg(8192)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->Iterations(1);

}  // namespace

BENCHMARK_MAIN();
