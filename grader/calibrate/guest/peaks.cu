// What a calibration runs on the GPU: rooflab_entry_calibrate, called by the guest like a task's
// function. Parameters and results: grader/calibrate/measure_peaks.cpp.
#include <cuda_runtime.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "grader/calibrate/guest/kernels.cuh"
#include "grader/calibrate/guest/sampling.cuh"
#include "grader/calibrate/guest/tensor_library.cuh"
#include "grader/contract/guest_call.h"

namespace rooflab::calibrate {
namespace {

constexpr std::size_t kMebi = std::size_t{1} << 20;
constexpr int kMostTurns = 1 << 24;

/// What the grader says of the GPU.
struct Gpu {
  bool simulated = false;
  int sms = 0;
  int threads_per_sm = 0;
  std::size_t l2_bytes = 0;
  std::size_t dram_bytes = 0;
};

/// One way to reach a peak: a launch does `work` (bytes or FLOPs) in each of its turns.
struct Variant {
  std::string how;
  double work = 0;
  std::function<void(int turns)> launch;
  int most_turns = kMostTurns;
};

/// The best of some ways, sampled.
struct Best {
  std::string how;
  double work = 0;  ///< of one sample
  std::vector<Sample> samples;
};

Best best_of(Sampler& sampler, const std::vector<Variant>& variants) {
  const Variant* best = nullptr;
  int best_turns = 0;
  double best_rate = 0;
  for (const Variant& variant : variants) {
    const int turns = sampler.turns_for(variant.launch, variant.most_turns);
    const Sample sample = sampler.take([&] { variant.launch(turns); });
    const double rate = turns * variant.work / sample.time_us;
    if (best == nullptr || rate > best_rate) {
      best = &variant;
      best_turns = turns;
      best_rate = rate;
    }
  }
  Best result{best->how, best_turns * best->work,
              sampler.repeat([&] { best->launch(best_turns); })};
  if (sampler.patience().subtracts_half && best_turns > 1) {
    const int half = best_turns / 2;
    const double half_us = sampler.take([&] { best->launch(half); }).time_us;
    result.work -= half * best->work;
    for (Sample& sample : result.samples) sample.time_us -= half_us;
  }
  return result;
}

std::string mebibytes(double bytes) { return std::to_string(std::lround(bytes / kMebi)) + " MiB"; }

std::string per_thread(int loads) {
  return std::to_string(loads) + " loads of 16 bytes under way for each thread";
}

/// Far more than the L2 holds, so that what a sample finds there is not worth mentioning.
std::size_t stream_bytes(const Gpu& gpu) {
  const std::size_t wanted = gpu.simulated ? 4 * gpu.l2_bytes : 32 * gpu.l2_bytes;
  const std::size_t least = gpu.simulated ? 256 * kMebi : 512 * kMebi;
  const std::size_t bytes = std::min(std::max(wanted, least), gpu.dram_bytes / 8);
  return bytes / (64 * kMebi) * (64 * kMebi);  // whole blocks of every variant
}

/// A turn of a stream: a sample takes as many of them as there is memory for, in one launch.
constexpr std::size_t kStreamPiece = 32 * kMebi;

template <int kLoads>
unsigned blocks_of_stream(int turns) {
  return static_cast<unsigned>(turns * (kStreamPiece / (kLoads * kThreads * sizeof(float4))));
}

template <int kLoads>
Variant dram_read(const Buffer& from, const Buffer& never, std::size_t bytes) {
  return {"up to " + mebibytes(static_cast<double>(bytes)) + ", " + per_thread(kLoads),
          static_cast<double>(kStreamPiece),
          [&from, &never](int turns) {
            read_dram<kLoads><<<blocks_of_stream<kLoads>(turns), kThreads>>>(from.as<float4>(),
                                                                             never.as<float>());
          },
          static_cast<int>(bytes / kStreamPiece)};
}

template <int kLoads>
Variant dram_copy(const Buffer& from, const Buffer& to, std::size_t bytes) {
  return {"up to " + mebibytes(static_cast<double>(bytes)) + " to as much, " + per_thread(kLoads),
          2.0 * static_cast<double>(kStreamPiece),
          [&from, &to](int turns) {
            copy_dram<kLoads>
                <<<blocks_of_stream<kLoads>(turns), kThreads>>>(from.as<float4>(), to.as<float4>());
          },
          static_cast<int>(bytes / kStreamPiece)};
}

Best measure_dram_read(Sampler& sampler, const Gpu& gpu) {
  const std::size_t bytes = stream_bytes(gpu);
  const Buffer from(bytes);
  const Buffer never(sizeof(float));
  return best_of(sampler, {dram_read<1>(from, never, bytes), dram_read<4>(from, never, bytes),
                           dram_read<8>(from, never, bytes)});
}

Best measure_dram_copy(Sampler& sampler, const Gpu& gpu) {
  const std::size_t bytes = stream_bytes(gpu) / 2;
  const Buffer from(bytes);
  const Buffer to(bytes);
  return best_of(sampler, {dram_copy<1>(from, to, bytes), dram_copy<4>(from, to, bytes),
                           dram_copy<8>(from, to, bytes)});
}

/// How blocks read what lies in a cache: each `span` bytes, `stride` bytes after the block before.
struct Walk {
  std::size_t span = 0;
  std::size_t stride = 0;
  int passes = 1;  ///< in a turn
  std::size_t bytes(const Gpu& gpu) const { return gpu.sms * kBlocksPerSm * stride + span; }
  static constexpr int kBlocksPerSm = 2;
};

template <Level kLevel, int kLoads>
Variant cached(const Gpu& gpu, const Walk& walk, const Buffer& from, const Buffer& never) {
  const auto blocks = static_cast<unsigned>(gpu.sms * Walk::kBlocksPerSm);
  const auto stride = static_cast<long>(walk.stride / sizeof(float4));
  const auto pieces = static_cast<int>(walk.span / (kLoads * kCacheThreads * sizeof(float4)));
  return {std::to_string(walk.bytes(gpu) / 1024) + " KiB, " + per_thread(kLoads) + " of " +
              std::to_string(Walk::kBlocksPerSm * kCacheThreads) + " on each SM",
          blocks * static_cast<double>(walk.span * walk.passes), [=, &from, &never](int turns) {
            read_cached<kLevel, kLoads><<<blocks, kCacheThreads>>>(
                from.as<float4>(), never.as<float>(), stride, pieces, turns * walk.passes, 0);
          }};
}

/// A quarter of the L2, so that both halves of a divided one could hold it; each block walks
/// through more than its L1 holds.
Best measure_l2_read(Sampler& sampler, const Gpu& gpu) {
  constexpr std::size_t kSpan = 512 * 1024;
  constexpr std::size_t kLine = 4096;
  const std::size_t blocks = static_cast<std::size_t>(gpu.sms) * Walk::kBlocksPerSm;
  const std::size_t spread = std::max(gpu.l2_bytes / 4, 2 * kSpan) - kSpan;
  const Walk walk{.span = kSpan,
                  .stride = std::max(spread / blocks / kLine, std::size_t{1}) * kLine};
  const Buffer from(walk.bytes(gpu));
  const Buffer never(sizeof(float));
  return best_of(sampler, {cached<Level::l2, 4>(gpu, walk, from, never),
                           cached<Level::l2, 8>(gpu, walk, from, never)});
}

/// The same 16 KiB for all blocks: less than the smallest L1.
Best measure_l1_read(Sampler& sampler, const Gpu& gpu) {
  const Walk walk{.span = 16 * 1024, .stride = 0, .passes = 16};
  const Buffer from(walk.bytes(gpu));
  const Buffer never(sizeof(float));
  return best_of(sampler, {cached<Level::l1, 1>(gpu, walk, from, never),
                           cached<Level::l1, 2>(gpu, walk, from, never)});
}

template <int kLoads>
Variant shared(const Gpu& gpu, const Buffer& from, const Buffer& never, int blocks_per_sm) {
  const auto blocks = static_cast<unsigned>(gpu.sms * blocks_per_sm);
  return {
      std::to_string(blocks_per_sm) + " blocks of 256 threads on each SM, " + per_thread(kLoads),
      blocks * static_cast<double>(kLoads * kThreads * sizeof(float4)),
      [&from, &never, blocks](int turns) {
        read_shared<kLoads><<<blocks, kThreads>>>(from.as<float4>(), never.as<float>(), turns, 0);
      }};
}

Best measure_shared_read(Sampler& sampler, const Gpu& gpu) {
  const Buffer from(4 * kThreads * sizeof(float4));
  const Buffer never(sizeof(float));
  return best_of(sampler, {shared<2>(gpu, from, never, 4), shared<4>(gpu, from, never, 3)});
}

template <int kChains>
Variant fp32(const Gpu& gpu, const Buffer& from, const Buffer& never) {
  const int blocks_per_sm = gpu.threads_per_sm / kThreads;
  const auto blocks = static_cast<unsigned>(gpu.sms * blocks_per_sm);
  return {std::to_string(kChains) + " independent chains in each of " +
              std::to_string(gpu.threads_per_sm) + " threads on each SM",
          2.0 * kMultiplyAdds * kThreads * blocks, [&from, &never, blocks](int turns) {
            multiply_add<kChains>
                <<<blocks, kThreads>>>(from.as<float>(), never.as<float>(), -1.0F, turns);
          }};
}

Best measure_fp32(Sampler& sampler, const Gpu& gpu) {
  const Buffer from(2 * 8 * kThreads * sizeof(float));
  const Buffer never(sizeof(float));
  return best_of(sampler, {fp32<4>(gpu, from, never), fp32<8>(gpu, from, never)});
}

/// Random numbers of a type, on the GPU.
template <typename Stored>
void fill_tensor(Stored* to, std::size_t count) {
  std::vector<Stored> values(count);
  std::uint32_t state = 8812;
  for (Stored& value : values) {
    state = state * 1664525U + 1013904223U;
    const float number = static_cast<float>(static_cast<std::int32_t>(state)) / 2147483648.0F;
    if constexpr (std::is_same_v<Stored, float>) {
      value = static_cast<float>(__nv_bfloat16(number));  // a tf32 too: it has all bits of bf16
    } else {
      value = Stored(number);
    }
  }
  check(cudaMemcpy(to, values.data(), count * sizeof(Stored), cudaMemcpyHostToDevice),
        "cudaMemcpy");
}

template <typename Type, int kRows>
Variant tensor(const Gpu& gpu, const Buffer& from, const Buffer& never, int blocks_per_sm) {
  using Stored = typename Type::Stored;
  const auto blocks = static_cast<unsigned>(gpu.sms * blocks_per_sm);
  const double flops = 2.0 * 16 * 16 * Type::kDepth;
  return {"wmma, " + std::to_string(2 * kRows) + " independent products in each of " +
              std::to_string(8 * blocks_per_sm) + " warps on each SM",
          flops * kRows * 2 * kTensorTurns * (kThreads / 32) * blocks,
          [&from, &never, blocks](int turns) {
            tensor_products<Type, kRows>
                <<<blocks, kThreads>>>(from.as<Stored>(), never.as<float>(), turns);
          }};
}

/// A product of 8192 x 8192 matrices by cuBLAS. Its time on a simulated GPU is an assumption of the
/// model and says nothing; it is left out there.
class LibraryProduct {
 public:
  static constexpr int kSize = 8192;
  explicit LibraryProduct(cudaDataType type)
      : type_(type),
        bytes_(sizeof(float) * kSize * kSize / (type == CUDA_R_32F ? 1 : 2)),
        a_(bytes_),
        b_(bytes_),
        c_(sizeof(float) * kSize * kSize) {}

  bool works() const { return library_.works(); }
  template <typename Stored>
  void fill() const {
    fill_tensor(a_.as<Stored>(), std::size_t{kSize} * kSize);
    fill_tensor(b_.as<Stored>(), std::size_t{kSize} * kSize);
  }
  Variant variant() const {
    return {"cuBLAS, a product of 8192 x 8192 matrices", 2.0 * kSize * kSize * kSize,
            [this](int turns) {
              for (int i = 0; i < turns; ++i) {
                library_.multiply(type_, a_.as<void>(), b_.as<void>(), c_.as<float>(), kSize);
              }
            },
            64};
  }

 private:
  TensorLibrary library_;
  cudaDataType type_;
  std::size_t bytes_;
  Buffer a_;
  Buffer b_;
  Buffer c_;
};

template <typename Type>
Best measure_tensor(Sampler& sampler, const Gpu& gpu, cudaDataType type) {
  using Stored = typename Type::Stored;
  constexpr std::size_t kElements = 80 * 256;  // of all fragments that a block loads
  const Buffer from(kElements * sizeof(Stored));
  fill_tensor(from.as<Stored>(), kElements);
  const Buffer never(sizeof(float));
  std::vector<Variant> variants = {tensor<Type, 2>(gpu, from, never, 2)};
  if (!gpu.simulated) variants.push_back(tensor<Type, 4>(gpu, from, never, 1));
  std::unique_ptr<LibraryProduct> product;
  if (!gpu.simulated) {
    product = std::make_unique<LibraryProduct>(type);
    if (product->works()) {
      product->fill<Stored>();
      variants.push_back(product->variant());
    }
  }
  return best_of(sampler, variants);
}

/// Kernels that do nothing, queued behind one that keeps the GPU busy while the host issues them:
/// so their time is the device's, and not the host's.
Best measure_launch(Sampler& sampler, const Gpu&) {
  constexpr int kLaunches = 200;  // fewer than a stream takes before it blocks the host
  constexpr int kLongest = 1 << 18;
  const Buffer never(sizeof(float));
  const auto launches = [] {
    for (int i = 0; i < kLaunches; ++i) nothing<<<1, 32>>>();
  };
  int turns = 1 << 12;
  const auto before = [&] { busy<<<1, 32>>>(never.as<float>(), 0.5F, turns); };
  nothing<<<1, 32>>>();
  sampler.take(launches, before);
  while (!sampler.has_queued() && turns < kLongest) {
    turns *= 2;
    sampler.take(launches, before);
  }
  return {std::string("200 empty kernels in a stream") +
              (sampler.has_queued() ? "" : ", as fast as the host issued them"),
          kLaunches, sampler.repeat(launches, before)};
}

using Measure = Best (*)(Sampler&, const Gpu&);

const std::map<std::string, Measure>& measures() {
  static const std::map<std::string, Measure> kMeasures = {
      {"dram_read", measure_dram_read},
      {"dram_copy", measure_dram_copy},
      {"l2_read", measure_l2_read},
      {"l1_read", measure_l1_read},
      {"shared_read", measure_shared_read},
      {"fp32", measure_fp32},
      {"fp16_tensor",
       [](Sampler& s, const Gpu& g) { return measure_tensor<Fp16>(s, g, CUDA_R_16F); }},
      {"bf16_tensor",
       [](Sampler& s, const Gpu& g) { return measure_tensor<Bf16>(s, g, CUDA_R_16BF); }},
      {"tf32_tensor",
       [](Sampler& s, const Gpu& g) { return measure_tensor<Tf32>(s, g, CUDA_R_32F); }},
      {"launch", measure_launch},
  };
  return kMeasures;
}

Patience patience_for(const Gpu& gpu) {
  if (gpu.simulated) {  // its times do not vary, and it needs no warming
    return {.least_us = 8, .warm_up = {}, .rule = {.least = 3, .most = 3}, .subtracts_half = true};
  }
  return {.least_us = 3000,
          .warm_up = std::chrono::milliseconds(500),
          .rule = {.least = 20,
                   .most = 1000,
                   .relative_standard_error = 0.001,
                   .budget = std::chrono::seconds(5)}};
}

ClockWatch watch_of(const Gpu& gpu) {
  if (gpu.simulated) return {};
  int device = 0;
  std::array<char, 64> address{};
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetPCIBusId(address.data(), static_cast<int>(address.size()), device),
        "cudaDeviceGetPCIBusId");
  return {"libnvidia-ml.so.1", address.data()};
}

std::string text_of(const std::vector<Sample>& samples) {
  std::string text;
  std::array<char, 96> line{};
  for (const Sample& sample : samples) {
    std::snprintf(line.data(), line.size(), "%.6g %lld %lld\n", sample.time_us,
                  static_cast<long long>(sample.sm_mhz),
                  static_cast<long long>(sample.throttled_by));
    text += line.data();
  }
  return text;
}

}  // namespace
}  // namespace rooflab::calibrate

ROOFLAB_ENTRY(calibrate) {
  using namespace rooflab::calibrate;
  const Gpu gpu{.simulated = call.integer("simulated") != 0,
                .sms = static_cast<int>(call.integer("sms")),
                .threads_per_sm = static_cast<int>(call.integer("threads_per_sm")),
                .l2_bytes = static_cast<std::size_t>(call.integer("l2_bytes")),
                .dram_bytes = static_cast<std::size_t>(call.integer("dram_bytes"))};
  const auto measure = measures().find(call.text("quantity"));
  if (measure == measures().end()) throw std::runtime_error("no such quantity");
  Sampler sampler(patience_for(gpu), watch_of(gpu));
  const Best best = measure->second(sampler, gpu);
  call.result("how", best.how);
  call.result("work", best.work);
  call.result("samples", text_of(best.samples));
  call.result("watched", static_cast<std::int64_t>(sampler.watch().works()));
  call.result("driver", sampler.watch().driver());
}
