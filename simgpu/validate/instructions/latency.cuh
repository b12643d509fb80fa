#pragma once

#include <numeric>

#include "arithmetic.cuh"
#include "measure.cuh"
#include "memory.cuh"

// Topics latency and chase: cycles from an instruction to the one that needs what it gives.
namespace instructions {

template <typename Operation>
void latency_of(Measure& m, const std::string& item, int threads = 32) {
  if (!m.wants(item)) return;
  const int turns = m.small ? 4 : 16;
  const double cycles = cycles_of_steps<Operation, Operation::kSteps, 1>(m, 1, threads, turns);
  m.print("latency", item, cycles / (Operation::kSteps * turns), "cycles");
}

template <typename... Operations>
void latencies(Measure& m) {
  (latency_of<Operations>(m, Operations::kName), ...);
}

inline void latency(Measure& m) {
  latencies<Fadd, Fmul, Ffma, Fmin, Dadd, Dmul, Dfma, Iadd, Iadd64, Imad, Imul, Imulhi, MadWide,
            Imul64, Imin, Dp4a, Shf, Shl, Lop3, Prmt, Bfe, Popc, Clz, Brev, Select>(m);
  latencies<Hfma2, Hadd2, Bfma2, Ex2, Lg2, Rcp, Rsqrt, Sin, Tanh, CvtS32, CvtF16, CvtBf16, CvtF64,
            CvtRound, DivF32, SqrtF32, DivF64, SqrtF64, DivU32>(m);
  latencies<Shfl, ShflIdx, Ballot, Redux, Match, Syncwarp, MembarCta, MembarGl, MembarSys>(m);
  latencies<MmaF16, MmaF16Short, MmaBf16, MmaTf32, MmaHalf, MmaS8, MmaF64>(m);
  for (const int warps : {1, 4, 8, 32}) {
    latency_of<Bar>(m, "bar.sync " + std::to_string(warps) + " warps", 32 * warps);
  }
  latency_of<SharedLoad<4, 4>>(m, "ld.shared.32");
  latency_of<SharedLoad<8, 8>>(m, "ld.shared.64+and");
  latency_of<SharedLoad<16, 16>>(m, "ld.shared.128+2 ands");
  latency_of<SharedLoad<4, 0>>(m, "ld.shared.32 broadcast");
  latency_of<SharedLoad<4, 128>>(m, "ld.shared.32 32-way conflict");
  latency_of<Ldmatrix>(m, "ldmatrix.x4");
  latency_of<SharedAtomic<Atomic::add, 4>>(m, "atom.shared.add.u32 distinct");
  latency_of<SharedAtomic<Atomic::add, 0>>(m, "atom.shared.add.u32 same");
  latency_of<SharedAtomic<Atomic::cas, 4>>(m, "atom.shared.cas distinct");
  latency_of<SharedAtomic<Atomic::exchange, 4>>(m, "atom.shared.exch distinct");
  latency_of<SharedAtomic<Atomic::add_float, 4>>(m, "atom.shared.add.f32 distinct");
  latency_of<SharedAtomic<Atomic::add_float, 0>>(m, "atom.shared.add.f32 same");
  latency_of<GlobalLoad<4, 4, true>>(m, "ld.global.32 L1");
  latency_of<GlobalLoad<8, 8, true>>(m, "ld.global.64 L1");
  latency_of<GlobalLoad<16, 16, true>>(m, "ld.global.128+and L1");
  latency_of<GlobalLoad<8, 0, true>>(m, "ld.global.64 L1 broadcast");
  latency_of<GlobalLoad<8, 8, false>>(m, "ld.global.cg.64 L2");
  latency_of<LocalLoad>(m, "ld.local.32 L1");
  latency_of<GlobalAtomic>(m, "atom.global.add.u64 one address", 32);
  latency_of<GlobalAtomic>(m, "atom.global.add.u64 one lane", 1);
  latency_of<GlobalCas>(m, "atom.global.cas.b64 one lane", 1);
  latency_of<StoreFence<false>>(m, "st.global+membar.gl");
  latency_of<StoreFence<true>>(m, "st.global+membar.sys");
  latency_of<CopyAsync>(m, "cp.async+wait_all");
}

constexpr int kConstantBytes = 48 * 1024;
__constant__ unsigned constant_ring[kConstantBytes / 4];

/// Follows a ring of offsets; cycles[0] is what `steps` take after `warm` steps.
__global__ void chase_constant(Operands operands, int warm, int steps, long long* cycles) {
  unsigned at = operands.zero;
  const char* ring = reinterpret_cast<const char*>(constant_ring);
#pragma unroll 1
  for (int i = 0; i < warm; ++i) at = *reinterpret_cast<const unsigned*>(ring + at);
  const long long begin = clock64();
#pragma unroll 16
  for (int i = 0; i < steps; ++i) at = *reinterpret_cast<const unsigned*>(ring + at);
  if (at == 1 + operands.zero) operands.sink[0] = at;
  cycles[0] = clock64() - begin;
}

constexpr int kLine = 128;

/// Line i points to line (i * a + c) mod lines, which comes to all lines before it is back.
__global__ void link(char* ring, unsigned long long lines, unsigned long long a,
                     unsigned long long c) {
  for (unsigned long long i = blockIdx.x * blockDim.x + threadIdx.x; i < lines;
       i += static_cast<unsigned long long>(gridDim.x) * blockDim.x) {
    *reinterpret_cast<char**>(ring + i * kLine) = ring + (i * a + c) % lines * kLine;
  }
}

__global__ void touch(const char* ring, unsigned long long lines, unsigned* sink) {
  unsigned long long sum = 0;
  for (unsigned long long i = blockIdx.x * blockDim.x + threadIdx.x; i < lines;
       i += static_cast<unsigned long long>(gridDim.x) * blockDim.x) {
    sum += __ldcg(reinterpret_cast<const unsigned long long*>(ring + i * kLine));
  }
  if (sum == 1) *sink = 1;
}

__global__ void chase(const char* ring, int warm, int steps, unsigned* sink, long long* cycles) {
  const char* at = ring;
#pragma unroll 1
  for (int i = 0; i < warm; ++i) asm volatile("ld.global.u64 %0, [%0];" : "+l"(at));
  const long long begin = clock64();
#pragma unroll 16
  for (int i = 0; i < steps; ++i) asm volatile("ld.global.u64 %0, [%0];" : "+l"(at));
  if (at == nullptr) *sink = 1;
  cycles[0] = clock64() - begin;
}

inline void chase_constants(Measure& m) {
  for (const int kib : {1, 2, 8, 16, 32, 48}) {
    const int words = kib * 256;
    std::vector<unsigned> ring(kConstantBytes / 4);
    for (int i = 0; i < words; ++i) ring[i] = (4 * i + 64) % (4 * words);
    check(cudaMemcpyToSymbol(constant_ring, ring.data(), kConstantBytes), "constants");
    const auto cycles = [&](int steps) {
      return m.cycles_of(
          1, [&] { chase_constant<<<1, 1>>>(m.operands, words / 16, steps, m.cycles); });
    };
    const int steps = 1024;
    m.print("chase", "ld.const " + std::to_string(kib) + " KiB",
            (cycles(2 * steps) - cycles(steps)) / steps, "cycles");
  }
}

inline void chase(Measure& m) {
  chase_constants(m);
  // Of a set that fits no cache each step is timed the first time: warm-up takes other lines.
  const std::vector<int> all = {16,    64,    128,   192,   256,   512,   1024,   4096,   8192,
                                16384, 24576, 32768, 49152, 65536, 98304, 131072, 262144, 1048576};
  const unsigned long long largest = m.small ? 64 << 10 : 1 << 20;
  char* ring = nullptr;
  check(cudaMalloc(&ring, largest << 10), "cudaMalloc");
  for (const int kib : all) {
    const unsigned long long lines = kib * (1024ull / kLine);
    if (static_cast<unsigned long long>(kib) > largest) break;
    // A multiplier of 12 k + 1 and an increment without 2 and 3 suit powers of two and thrice
    // these.
    const unsigned long long a = (lines / 5 / 12 * 12 + 1);
    const unsigned long long c = lines / 3 / 6 * 6 + 5;
    link<<<8 * m.sms, 256>>>(ring, lines, a, c);
    const int warm = static_cast<int>(std::min(lines, 2048ull));
    const auto cycles = [&](int steps) {
      return m.cycles_of(1, [&] {
        touch<<<8 * m.sms, 256>>>(ring, lines, m.operands.sink);
        chase<<<1, 1>>>(ring, warm, steps, m.operands.sink, m.cycles);
      });
    };
    const int steps = 1024;
    m.print("chase", "ld.global " + std::to_string(kib) + " KiB",
            (cycles(2 * steps) - cycles(steps)) / steps, "cycles");
  }
  check(cudaFree(ring), "cudaFree");
  // Single lines in L2: their slices are near or far.
  std::vector<double> of_lines;
  for (int line = 0; line < (m.small ? 4 : 64); ++line) {
    Operands operands = m.operands;
    operands.wide += line * 512;
    const int turns = 4;
    const auto cycles = [&](int turns) {
      return m.cycles_of(
          1, [&] { chain<GlobalLoad<8, 0, false>, 32, 1><<<1, 32>>>(operands, turns, m.cycles); });
    };
    of_lines.push_back((cycles(2 * turns) - cycles(turns)) / (32 * turns));
  }
  std::sort(of_lines.begin(), of_lines.end());
  m.print("chase", "L2 line nearest", of_lines.front(), "cycles");
  m.print("chase", "L2 line median", of_lines[of_lines.size() / 2], "cycles");
  m.print("chase", "L2 line mean",
          std::accumulate(of_lines.begin(), of_lines.end(), 0.0) / of_lines.size(), "cycles");
  m.print("chase", "L2 line farthest", of_lines.back(), "cycles");
}

}  // namespace instructions
