// The solutions beside the libraries and the hardware that they are measured by: README.md.
#include <cuda_runtime.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>

#include "guest_support/cublas_handle.h"
#include "performance/arrays.h"
#include "performance/row.h"
#include "performance/table.h"
#include "specs/gpu_spec.h"

namespace rooflab::performance {
namespace {

constexpr int kWrong = 1;
constexpr int kUsage = 2;
constexpr int kNoDevice = 77;  // ctest: skipped

struct Options {
  std::string gpu;
  std::string json;
  std::optional<double> sdpa_us;
  int rounds = 20;
  bool small = false;
};

bool is_simulated(const cudaDeviceProp& device) {
  return std::string(device.name).starts_with("simulated ");
}

std::filesystem::path checkout() {
  const char* root = std::getenv("ROOFLAB_ROOT");
  return root == nullptr || *root == '\0' ? ROOFLAB_SOURCE_DIR : root;
}

/// The specification of the device: as many SMs of the same capability, memory most alike.
/// @throws gpu_spec::SpecError
gpu_spec::GpuSpec spec_of(const cudaDeviceProp& device, const std::string& wanted) {
  const std::filesystem::path folder = checkout() / "specs" / "gpus";
  if (!wanted.empty()) return gpu_spec::find(folder, wanted);
  std::optional<gpu_spec::GpuSpec> best;
  const auto distance = [&](const gpu_spec::GpuSpec& spec) {
    return std::abs(static_cast<double>(spec.dram_bytes) -
                    static_cast<double>(device.totalGlobalMem));
  };
  for (const std::string& id : gpu_spec::list(folder)) {
    const gpu_spec::GpuSpec spec = gpu_spec::find(folder, id);
    const bool is_like = spec.compute_capability_major == device.major &&
                         spec.compute_capability_minor == device.minor &&
                         spec.sm_count == device.multiProcessorCount;
    if (is_like && (!best || distance(spec) < distance(*best))) best = spec;
  }
  if (!best) {
    throw gpu_spec::SpecError(std::string("no file of specs/gpus is of a ") + device.name +
                              "; name one with --gpu");
  }
  return *best;
}

/// Bytes that a copy on the device reads and writes in a microsecond, over more than the L2 holds.
double copy_bytes_per_us(bool small, int rounds) {
  const std::size_t bytes = std::size_t{1} << (small ? 24 : 30);
  const Input<float> from(bytes / sizeof(float), 1);
  const Output<float> to(bytes / sizeof(float));
  const auto copy = [&] {
    CUDA_CHECK(cudaMemcpyAsync(to.data(), from.data(), bytes, cudaMemcpyDeviceToDevice));
  };
  return 2 * static_cast<double>(bytes) / take_turns({copy}, rounds).front();
}

std::string versions(cublasHandle_t cublas) {
  int driver = 0;
  int runtime = 0;
  int library = 0;
  CUDA_CHECK(cudaDriverGetVersion(&driver));
  CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
  CUBLAS_CHECK(cublasGetVersion(cublas, &library));
  return fmt::format("CUDA of the driver {}, of the runtime {}, cuBLAS {}", driver, runtime,
                     library);
}

std::optional<double> roofline_us(const Row& row, const Setting& setting) {
  constexpr double kMicroseconds = 1e6;
  if (!(row.bytes > 0)) return std::nullopt;
  const double by_memory = row.bytes / setting.dram_bytes_per_second;
  const double by_arithmetic = row.flops / setting.peak_flops.at(row.peak);
  return kMicroseconds * std::max(by_memory, by_arithmetic);
}

Line line_of(const RowMaker& maker, const Setting& setting, int rounds) {
  const Row row = maker.make(setting);
  Line line{.name = maker.name, .size = row.size, .reference = row.reference, .goal = row.goal};
  line.times = row.measure(rounds);
  // Comparing takes longer than timing: whoever waits sees what is going on.
  std::cerr << fmt::format("{}: {:.1f} us, being compared\n", maker.name, line.times.solution_us);
  line.roofline_us = roofline_us(row, setting);
  line.mismatch = row.mismatch();
  return line;
}

std::vector<RowMaker> all_rows() {
  std::vector<RowMaker> all;
  for (const auto& rows : {product_rows(), memory_rows(), attention_rows(), graph_rows()}) {
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return all;
}

/// Why no solution can run on the device at all; empty when they can.
std::string missing_code(const cudaDeviceProp& device) {
  const int capability = 10 * device.major + device.minor;
  if (capability >= ROOFLAB_SOLUTIONS_ARCHITECTURE) return {};
  return fmt::format(
      "it is compiled for compute capability {}.{}, and this GPU has {}.{}; set "
      "ROOFLAB_SOLUTIONS_ARCHITECTURE",
      ROOFLAB_SOLUTIONS_ARCHITECTURE / 10, ROOFLAB_SOLUTIONS_ARCHITECTURE % 10, device.major,
      device.minor);
}

std::string why_left_out(const RowMaker& maker, const gpu_spec::GpuSpec& spec,
                         const cudaDeviceProp& device) {
  if (!spec.peak_flops.contains(maker.peak)) return spec.name + " has no " + maker.peak;
  return missing_code(device);
}

Table make_table(const Options& options, const cudaDeviceProp& device) {
  const CublasHandle cublas;
  CUBLAS_CHECK(cublasSetMathMode(cublas.get(), CUBLAS_DEFAULT_MATH));
  const gpu_spec::GpuSpec spec = spec_of(device, options.gpu);
  // A simulated GPU's times come again exactly, and full sizes would take it hours.
  const bool small = options.small || is_simulated(device);
  const int rounds = is_simulated(device) ? 1 : options.rounds;
  const Setting setting{.small = small,
                        .cublas = cublas.get(),
                        .copy_bytes_per_us = copy_bytes_per_us(small, rounds),
                        .sdpa_us = small ? std::nullopt : options.sdpa_us,
                        .peak_flops = spec.peak_flops,
                        .dram_bytes_per_second = spec.dram_bytes_per_second};
  Table table{.device = device.name,
              .gpu = spec.id,
              .time_kind = is_simulated(device) ? "modelled" : "measured",
              .small = small,
              .versions = versions(cublas.get()),
              .copy_gb_per_second = setting.copy_bytes_per_us / 1e3};
  for (const RowMaker& maker : all_rows()) {
    const std::string reason = why_left_out(maker, spec, device);
    table.lines.push_back(reason.empty() ? line_of(maker, setting, rounds)
                                         : Line{.name = maker.name, .left_out = reason});
  }
  return table;
}

int run(const Options& options) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::cerr << "performance_table: there is no GPU; to see that it works: build/bin/simgpu run "
                 "-- build/tests/performance_table\n";
    return kNoDevice;
  }
  cudaDeviceProp device;
  CUDA_CHECK(cudaGetDeviceProperties(&device, 0));
  const Table table = make_table(options, device);
  std::cout << text_of(table);
  if (!options.json.empty()) {
    std::ofstream file(options.json);
    file << json_of(table);
    if (!file.flush()) throw std::runtime_error(options.json + " cannot be written");
  }
  const bool right =
      std::ranges::all_of(table.lines, [](const Line& line) { return line.mismatch.empty(); });
  return right ? 0 : kWrong;
}

}  // namespace
}  // namespace rooflab::performance

int main(int argc, char** argv) {
  namespace performance = rooflab::performance;
  // cuBLAS reads it as it starts; it would make SGEMM use TF32 whatever the math mode is.
  setenv("NVIDIA_TF32_OVERRIDE", "0", 1);
  CLI::App app("Times the solutions beside cuBLAS, SDPA and copies", "performance_table");
  performance::Options options;
  app.add_option("--gpu", options.gpu, "A file of specs/gpus (default: the one most alike)");
  app.add_option("--json", options.json, "Write the table as JSON, too");
  app.add_option("--sdpa-us", options.sdpa_us, "Time of PyTorch's SDPA (sdpa.py)")
      ->check(CLI::PositiveNumber);
  app.add_option("--rounds", options.rounds, "Samples of each time")->check(CLI::Range(1, 10000));
  app.add_flag("--small", options.small, "Small sizes, as on a simulated GPU");
  CLI11_PARSE(app, argc, argv);
  try {
    return performance::run(options);
  } catch (const std::exception& error) {
    std::cerr << "performance_table: " << error.what() << '\n';
    return performance::kUsage;
  }
}
