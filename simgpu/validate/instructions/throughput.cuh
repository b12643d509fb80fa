#pragma once

#include "arithmetic.cuh"
#include "measure.cuh"
#include "memory.cuh"

// Topics throughput and atomics: instructions that run at a time.
namespace instructions {

/// Warp instructions per cycle and multiprocessor, with 8, 16 and 32 warps of four chains each.
template <typename Operation>
void throughput_of(Measure& m, const std::string& item) {
  if (!m.wants(item)) return;
  constexpr int kChains = 4;
  constexpr int kSteps = Operation::kSteps / 4;
  const int turns = m.small ? 4 : 32;
  for (const int warps : {8, 16, 32}) {
    if (m.small && warps < 32) continue;
    const double cycles = cycles_of_steps<Operation, kSteps, kChains>(m, m.sms, 32 * warps, turns);
    m.print("throughput", item + " @" + std::to_string(warps),
            static_cast<double>(kSteps) * kChains * turns * warps / cycles, "warp steps/cycle/SM");
  }
}

template <typename... Operations>
void throughputs(Measure& m) {
  (throughput_of<Operations>(m, Operations::kName), ...);
}

/// Loads of lanes `kStrides` elements apart, 0: a broadcast.
template <int kBytes, int... kStrides>
void shared_strides(Measure& m) {
  const std::string name = "ld.shared." + std::to_string(8 * kBytes);
  (throughput_of<SharedLoad<kBytes, kStrides * kBytes>>(
       m, name + " stride " + std::to_string(kStrides)),
   ...);
}

inline void throughput(Measure& m) {
  throughputs<Fadd, Fmul, Ffma, Fmin, Dadd, Dmul, Dfma, Iadd, Iadd64, Imad, Imul, Imulhi, MadWide,
              Imul64, Imin, Dp4a, Shf, Shl, Lop3, Prmt, Bfe, Popc, Clz, Brev, Select>(m);
  throughputs<Hfma2, Hadd2, Bfma2, Ex2, Lg2, Rcp, Rsqrt, Sin, Tanh, CvtS32, CvtF16, CvtBf16, CvtF64,
              CvtRound, DivF32, SqrtF32, DivF64, SqrtF64, DivU32>(m);
  throughputs<Shfl, ShflIdx, Ballot, Redux, Match, Syncwarp>(m);
  throughputs<MmaF16, MmaF16Short, MmaBf16, MmaTf32, MmaHalf, MmaS8, MmaF64>(m);
  throughput_of<Ldmatrix>(m, "ldmatrix.x4");
  throughput_of<SharedStore>(m, "st.shared.32");
  shared_strides<4, 0, 1, 2, 4, 8, 16, 32>(m);
  shared_strides<8, 0, 1, 2, 4, 8, 16, 32>(m);
  shared_strides<16, 0, 1, 2, 4, 8, 16, 32>(m);
  throughput_of<SharedAtomic<Atomic::add, 4>>(m, "atom.shared.add.u32 distinct");
  throughput_of<SharedAtomic<Atomic::add, 0>>(m, "atom.shared.add.u32 same");
  throughput_of<SharedAtomic<Atomic::add, 128>>(m, "atom.shared.add.u32 32-way conflict");
  throughput_of<SharedAtomic<Atomic::maximum, 4>>(m, "atom.shared.max.u32 distinct");
  throughput_of<SharedAtomic<Atomic::exchange, 4>>(m, "atom.shared.exch distinct");
  throughput_of<SharedAtomic<Atomic::cas, 4>>(m, "atom.shared.cas distinct");
  throughput_of<SharedAtomic<Atomic::cas, 0>>(m, "atom.shared.cas same");
  throughput_of<SharedAtomic<Atomic::add_float, 4>>(m, "atom.shared.add.f32 distinct");
  throughput_of<SharedAtomic<Atomic::add_float, 0>>(m, "atom.shared.add.f32 same");
  throughput_of<GlobalLoad<4, 4, true>>(m, "ld.global.32 L1");
  throughput_of<GlobalLoad<8, 8, true>>(m, "ld.global.64 L1");
  throughput_of<GlobalLoad<16, 16, true>>(m, "ld.global.128 L1");
  throughput_of<GlobalLoad<4, 0, true>>(m, "ld.global.32 L1 broadcast");
  throughput_of<GlobalLoad<4, 32, true>>(m, "ld.global.32 L1 a sector each");
  throughput_of<GlobalLoad<8, 128, true>>(m, "ld.global.64 L1 a line each");
  throughput_of<LocalLoad>(m, "ld.local.32 L1");
  throughput_of<GlobalLoad<8, 8, false>>(m, "ld.global.cg.64 L2 same lines");
  throughput_of<CopyAsync>(m, "cp.async.16+wait_all");
}

enum class Global { red, atom, cas, exchange, red_float, atom_float, red_wide, red_double };

/// Places of a thread's atomics: strides in bytes for lanes, warps of a block and blocks.
struct Places {
  const char* name;
  int lane, warp, block;
};

template <Global kKind>
__global__ void atomics(char* memory, Places places, int steps, Operands operands) {
  char* at = memory + threadIdx.x % 32 * places.lane + threadIdx.x / 32 * places.warp +
             static_cast<long>(blockIdx.x) * places.block;
  unsigned got = 0;
#pragma unroll 8
  for (int i = 0; i < steps; ++i) {
    unsigned old = 0;
    if constexpr (kKind == Global::red) {
      asm volatile("red.global.add.u32 [%0], 1;" ::"l"(at) : "memory");
    } else if constexpr (kKind == Global::atom) {
      asm volatile("atom.global.add.u32 %0, [%1], 1;" : "=r"(old) : "l"(at) : "memory");
    } else if constexpr (kKind == Global::cas) {
      asm volatile("atom.global.cas.b32 %0, [%1], %2, 1;" : "=r"(old) : "l"(at), "r"(i) : "memory");
    } else if constexpr (kKind == Global::exchange) {
      asm volatile("atom.global.exch.b32 %0, [%1], %2;" : "=r"(old) : "l"(at), "r"(i) : "memory");
    } else if constexpr (kKind == Global::red_float) {
      asm volatile("red.global.add.f32 [%0], 0f3F800000;" ::"l"(at) : "memory");
    } else if constexpr (kKind == Global::atom_float) {
      asm volatile("{ .reg .f32 f; atom.global.add.f32 f, [%1], 0f3F800000; mov.b32 %0, f; }"
                   : "=r"(old)
                   : "l"(at)
                   : "memory");
    } else if constexpr (kKind == Global::red_wide) {
      asm volatile("red.global.add.u64 [%0], 1;" ::"l"(at) : "memory");
    } else {
      asm volatile("red.global.add.f64 [%0], 0d3FF0000000000000;" ::"l"(at) : "memory");
    }
    got ^= old;
  }
  if (got == 0x9e3779b9u + operands.zero) operands.sink[0] = got;
}

template <Global kKind>
void atomics_of(Measure& m, const char* name, int bytes, char* memory, const Places& pattern) {
  const std::string item = std::string(name) + " " + pattern.name;
  if (!m.wants(item)) return;
  Places places = pattern;
  if (places.lane == 4) places.lane = bytes;  // next to each other
  constexpr int kWarps = 8;
  const int steps = m.small ? 8 : 64;
  // Addresses that few share take the more steps.
  const auto time = [&](int steps) {
    return m.microseconds(
        [&] { atomics<kKind><<<2 * m.sms, 32 * kWarps>>>(memory, places, steps, m.operands); });
  };
  const double warps = 2.0 * m.sms * kWarps * steps;
  const double us = time(2 * steps) - time(steps);
  m.print("atomics", item, us * m.mhz / warps, "cycles/warp instruction of the GPU");
}

inline void atomics(Measure& m) {
  char* memory = nullptr;
  check(cudaMalloc(&memory, 64 << 20), "cudaMalloc");
  check(cudaMemset(memory, 0, 64 << 20), "cudaMemset");
  const Places all[] = {
      {"one address", 0, 0, 0},
      {"an address a block", 0, 0, 32 * 1024},
      {"an address a warp", 0, 4096, 32 * 1024},
      {"a line of lanes, all the same", 4, 0, 0},
      {"distinct, next to each other", 4, 1024, 32 * 1024},
      {"a sector a lane, all the same", 32, 0, 0},
      {"a sector a lane, distinct", 32, 1024, 32 * 1024},
      {"a line a lane, distinct", 128, 4096, 32 * 1024},
  };
  for (const Places& places : all) {
    atomics_of<Global::red>(m, "red.add.u32", 4, memory, places);
    atomics_of<Global::atom>(m, "atom.add.u32", 4, memory, places);
    atomics_of<Global::cas>(m, "atom.cas.b32", 4, memory, places);
    atomics_of<Global::exchange>(m, "atom.exch.b32", 4, memory, places);
    atomics_of<Global::red_float>(m, "red.add.f32", 4, memory, places);
    atomics_of<Global::atom_float>(m, "atom.add.f32", 4, memory, places);
    atomics_of<Global::red_wide>(m, "red.add.u64", 8, memory, places);
    atomics_of<Global::red_double>(m, "red.add.f64", 8, memory, places);
  }
  check(cudaFree(memory), "cudaFree");
}

}  // namespace instructions
