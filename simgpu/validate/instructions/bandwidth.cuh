#pragma once

#include "measure.cuh"

// Topics bandwidth (DRAM) and cache (L2 by working set).
namespace instructions {

/// Reads `count` vectors of 16 bytes, `kLoads` of a thread at a time; every `kSkip`-th sector.
template <int kLoads, int kSkip = 1>
__global__ void __launch_bounds__(1024) read_all(const uint4* from, long count, unsigned* sink) {
  const long threads = static_cast<long>(gridDim.x) * blockDim.x;
  unsigned sum = 0;
  for (long i = static_cast<long>(blockIdx.x) * blockDim.x + threadIdx.x;
       i + (kLoads - 1) * threads < count; i += kLoads * threads) {
    uint4 got[kLoads];
#pragma unroll
    for (int k = 0; k < kLoads; ++k) {
      const long at = i + k * threads;
      got[k] = __ldcg(from + at / 2 * 2 * kSkip + at % 2);
    }
#pragma unroll
    for (int k = 0; k < kLoads; ++k) sum ^= got[k].x ^ got[k].y ^ got[k].z ^ got[k].w;
  }
  if (sum == 0x9e3779b9u) *sink = sum;
}

__global__ void write_all(uint4* to, long count) {
  const long threads = static_cast<long>(gridDim.x) * blockDim.x;
  for (long i = static_cast<long>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += threads) {
    to[i] = make_uint4(1, 2, 3, 4);
  }
}

__global__ void copy_all(uint4* to, const uint4* from, long count) {
  const long threads = static_cast<long>(gridDim.x) * blockDim.x;
  for (long i = static_cast<long>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += 4 * threads) {
    uint4 got[4];
#pragma unroll
    for (int k = 0; k < 4; ++k)
      got[k] = i + k * threads < count ? __ldcg(from + i + k * threads) : uint4();
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      if (i + k * threads < count) to[i + k * threads] = got[k];
    }
  }
}

/// Words of sectors that a hash chooses.
__global__ void read_random(const unsigned* from, unsigned sectors, int steps, unsigned* sink) {
  unsigned sum = 0;
  unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < steps; i += 8) {
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      at = at * 1664525u + 1013904223u;
      unsigned mixed = (at ^ at >> 15) * 0x2c1b3c6du;
      mixed ^= mixed >> 13;
      sum ^= __ldcg(from + static_cast<long>(mixed % sectors) * 8);
    }
  }
  if (sum == 0x9e3779b9u) *sink = sum;
}

/// The buffer that all read parts of, other ones each time: none is in L2 when its turn comes.
class Stretches {
 public:
  Stretches(std::size_t bytes, std::size_t part) : bytes_(bytes), part_(part) {
    check(cudaMalloc(&memory_, bytes), "cudaMalloc");
    check(cudaMemset(memory_, 1, bytes), "cudaMemset");
  }
  ~Stretches() { cudaFree(memory_); }
  const unsigned* all() const { return reinterpret_cast<const unsigned*>(memory_); }
  uint4* next() {
    at_ = (at_ + part_) % bytes_;
    return reinterpret_cast<uint4*>(memory_ + at_);
  }

 private:
  char* memory_ = nullptr;
  std::size_t bytes_, part_, at_ = 0;
};

template <int kLoads>
void ramp(Measure& m, Stretches& stretches, std::size_t part) {
  for (const int warps : {1, 2, 4, 8, 16, 32, 64}) {
    const int blocks = warps > 32 ? 2 * m.sms : m.sms;
    const int threads = std::min(32 * warps, 1024);
    const double us = m.microseconds([&] {
      read_all<kLoads><<<blocks, threads>>>(stretches.next(), part / 16, m.operands.sink);
    });
    m.print(
        "bandwidth",
        "DRAM read " + std::to_string(warps) + " warps/SM x " + std::to_string(kLoads) + " loads",
        part / us / 1e3, "GB/s");
  }
}

inline void bandwidth(Measure& m) {
  const std::size_t part = m.small ? 8 << 20 : 256 << 20;
  Stretches stretches(4 * part, part);
  unsigned* sink = m.operands.sink;
  ramp<1>(m, stretches, part);
  ramp<2>(m, stretches, part);
  ramp<4>(m, stretches, part);
  ramp<8>(m, stretches, part);
  const auto rate = [&](const char* item, double bytes, auto call) {
    m.print("bandwidth", item, bytes / m.microseconds(call) / 1e3, "GB/s");
  };
  const long count = part / 16;
  const int many = 8 * m.sms;
  rate("DRAM copy (read + written)", 2.0 * part, [&] {
    auto* from = stretches.next();
    copy_all<<<many, 256>>>(stretches.next(), from, count);
  });
  rate("DRAM write", part, [&] { write_all<<<many, 256>>>(stretches.next(), count); });
  rate("DRAM read, a block a tile", part, [&] {
    read_all<4><<<static_cast<unsigned>(count / 1024), 256>>>(stretches.next(), count, sink);
  });
  rate("DRAM read, each second sector (useful)", part / 2.0,
       [&] { read_all<4, 2><<<many, 256>>>(stretches.next(), count / 2, sink); });
  rate("DRAM read, each fourth sector (useful)", part / 4.0,
       [&] { read_all<4, 4><<<many, 256>>>(stretches.next(), count / 4, sink); });
  const int steps = m.small ? 8 : 64;
  rate("DRAM read, random sectors", 32.0 * steps * many * 256,
       [&] { read_random<<<many, 256>>>(stretches.all(), 4 * part / 32, steps, sink); });
}

/// Reads the same bytes again and again, all SMs all of them or each its part.
template <int kPasses>
__global__ void __launch_bounds__(1024) read_again(const uint4* from, long count, unsigned* sink) {
  const long threads = static_cast<long>(gridDim.x) * blockDim.x;
  unsigned sum = 0;
  for (int pass = 0; pass < kPasses; ++pass) {
    // The blocks move on by one each pass, so that each comes to both partitions of L2.
    const long first = (blockIdx.x + 7l * pass) % gridDim.x * blockDim.x + threadIdx.x;
#pragma unroll 4
    for (long i = first; i < count; i += threads) {
      const uint4 got = __ldcg(from + i);
      sum ^= got.x ^ got.y ^ got.z ^ got.w;
    }
  }
  if (sum == 0x9e3779b9u) *sink = sum;
}

inline void cache(Measure& m) {
  const std::size_t most = m.small ? 8 : 200;
  uint4* memory = nullptr;
  check(cudaMalloc(&memory, most << 20), "cudaMalloc");
  check(cudaMemset(memory, 1, most << 20), "cudaMemset");
  for (const std::size_t mib : {1, 2, 4, 8, 16, 24, 32, 40, 48, 56, 64, 96, 128, 200}) {
    if (mib > most) break;
    const long count = static_cast<long>(mib << 20) / 16;
    const auto time = [&](auto kernel) {
      return m.microseconds([&] { kernel<<<2 * m.sms, 1024>>>(memory, count, m.operands.sink); });
    };
    const double us = time(read_again<9>) - time(read_again<1>);
    m.print("cache", "L2 read " + std::to_string(mib) + " MiB again", 8.0 * (mib << 20) / us / 1e3,
            "GB/s");
  }
  check(cudaFree(memory), "cudaFree");
}

}  // namespace instructions
