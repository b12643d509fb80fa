#pragma once

#include "measure.cuh"

// Instructions that access memory. Words hold their own address, so that each step's address is
// what the last one loaded.
namespace instructions {

/// 16 KiB of shared memory, each word its own address.
__device__ inline unsigned shared_pointers() {
  __shared__ __align__(128) unsigned words[4096];
  const unsigned base = static_cast<unsigned>(__cvta_generic_to_shared(words));
  for (unsigned i = threadIdx.x; i < 4096; i += blockDim.x) words[i] = base + 4 * i;
  __syncthreads();
  return base;
}

/// Lanes are `kStride` bytes apart, 0: all at one address.
template <int kBytes, int kStride>
struct SharedLoad {
  static constexpr int kSteps = 64;
  unsigned address;
  __device__ void start(const Operands&, int i) {
    // Stays within 16 KiB, and chains do not read the same words where there is room.
    address = shared_pointers() + (threadIdx.x % 32 * kStride + i * 128) % 16384;
  }
  __device__ void step() {
    // All that is loaded is needed, or less would be loaded: the address is what the words have in
    // common.
    if constexpr (kBytes == 4) {
      asm volatile("ld.shared.u32 %0, [%0];" : "+r"(address));
    } else if constexpr (kBytes == 8) {
      asm volatile("{ .reg .u32 a, b; ld.shared.v2.u32 {a, b}, [%0]; and.b32 %0, a, b; }"
                   : "+r"(address));
    } else {
      asm volatile(
          "{ .reg .u32 a, b, c, d; ld.shared.v4.u32 {a, b, c, d}, [%0];"
          " and.b32 a, a, b; and.b32 c, c, d; and.b32 %0, a, c; }"
          : "+r"(address));
    }
  }
  __device__ unsigned result() const { return address; }
};

struct SharedStore {
  static constexpr int kSteps = 64;
  unsigned address;
  __device__ void start(const Operands&, int i) {
    address = shared_pointers() + threadIdx.x % 32 * 4 + i * 128;
  }
  // Volatile: of other stores to one place only the last would be left.
  __device__ void step() { asm volatile("st.volatile.shared.u32 [%0], %0;" ::"r"(address)); }
  __device__ unsigned result() const { return address; }
};

struct Ldmatrix {
  static constexpr int kSteps = 64;
  unsigned address, other[3];
  __device__ void start(const Operands&, int) {
    // The first matrix's fragment is word `lane` of its rows: it shall be the row this lane names.
    const unsigned base = shared_pointers();
    const unsigned lane = threadIdx.x % 32;
    if (threadIdx.x < 32) {
      asm volatile("st.shared.u32 [%0], %1;" ::"r"(base + 4 * lane), "r"(base + 16 * lane));
    }
    __syncthreads();
    address = base + 16 * lane;
  }
  __device__ void step() {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%0];"
                 : "+r"(address), "=r"(other[0]), "=r"(other[1]), "=r"(other[2]));
  }
  __device__ unsigned result() const { return address ^ other[0] ^ other[1] ^ other[2]; }
};

enum class Atomic { add, cas, exchange, maximum, add_float };

template <Atomic kKind, int kStride>
struct SharedAtomic {
  static constexpr int kSteps = 16;
  unsigned address, zero;
  __device__ void start(const Operands& operands, int i) {
    zero = operands.zero;
    address = shared_pointers() + (threadIdx.x % 32 * kStride + i * 4096) % 16384;
  }
  __device__ void step() {
    if constexpr (kKind == Atomic::add) {
      asm volatile("atom.shared.add.u32 %0, [%0], %1;" : "+r"(address) : "r"(zero));
    } else if constexpr (kKind == Atomic::cas) {
      asm volatile("atom.shared.cas.b32 %0, [%0], %1, %1;" : "+r"(address) : "r"(zero));
    } else if constexpr (kKind == Atomic::exchange) {
      asm volatile("atom.shared.exch.b32 %0, [%0], %0;" : "+r"(address));
    } else if constexpr (kKind == Atomic::maximum) {
      asm volatile("atom.shared.max.u32 %0, [%0], %1;" : "+r"(address) : "r"(zero));
    } else {
      // The old number's bits are the address still: a subnormal, to which nothing is added.
      asm volatile(
          "{ .reg .f32 f, n; mov.b32 n, %1; atom.shared.add.f32 f, [%0], n;"
          " mov.b32 %0, f; }"
          : "+r"(address)
          : "r"(zero));
    }
  }
  __device__ unsigned result() const { return address; }
};

/// From L1 (`kCached`) or L2.
template <int kBytes, int kStride, bool kCached>
struct GlobalLoad {
  static constexpr int kSteps = 32;
  unsigned long long address;
  __device__ void start(const Operands& operands, int i) {
    const unsigned long long base = kBytes == 4
                                        ? reinterpret_cast<unsigned long long>(operands.narrow)
                                        : reinterpret_cast<unsigned long long>(operands.wide);
    address = base + threadIdx.x % 32 * kStride + i * 512;
  }
  __device__ void step() {
    if constexpr (kBytes == 4 && kCached) {
      asm volatile(
          "{ .reg .u32 a, b; mov.b64 {a, b}, %0; ld.global.u32 a, [%0];"
          " mov.b64 %0, {a, b}; }"
          : "+l"(address));
    } else if constexpr (kBytes == 4) {
      asm volatile(
          "{ .reg .u32 a, b; mov.b64 {a, b}, %0; ld.global.cg.u32 a, [%0];"
          " mov.b64 %0, {a, b}; }"
          : "+l"(address));
    } else if constexpr (kBytes == 8 && kCached) {
      asm volatile("ld.global.u64 %0, [%0];" : "+l"(address));
    } else if constexpr (kBytes == 8) {
      asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(address));
    } else {
      // The address is what both halves have in common, so that both are loaded.
      static_assert(kCached);
      asm volatile(
          "{ .reg .u32 a, b, c, d; ld.global.v4.u32 {a, b, c, d}, [%0];"
          " and.b32 a, a, c; and.b32 b, b, d; mov.b64 %0, {a, b}; }"
          : "+l"(address));
    }
  }
  __device__ unsigned result() const { return static_cast<unsigned>(address); }
};

struct LocalLoad {
  static constexpr int kSteps = 64;
  unsigned address;
  __device__ void start(const Operands&, int i) {
    unsigned words[4];
    address = static_cast<unsigned>(__cvta_generic_to_local(words));
    for (int k = 0; k < 4; ++k) {
      asm volatile("st.local.u32 [%0], %1;" ::"r"(address + 4 * k), "r"(address) : "memory");
    }
  }
  __device__ void step() { asm volatile("ld.local.u32 %0, [%0];" : "+r"(address)); }
  __device__ unsigned result() const { return address; }
};

/// All lanes at one address; the 64-bit word there is its own address.
struct GlobalAtomic {
  static constexpr int kSteps = 16;
  unsigned long long address, zero;
  __device__ void start(const Operands& operands, int i) {
    zero = operands.zero;
    address = reinterpret_cast<unsigned long long>(operands.wide) + i * 256;
  }
  __device__ void step() {
    asm volatile("atom.global.add.u64 %0, [%0], %1;" : "+l"(address) : "l"(zero));
  }
  __device__ unsigned result() const { return static_cast<unsigned>(address); }
};

struct GlobalCas : GlobalAtomic {
  __device__ void step() {
    asm volatile("atom.global.cas.b64 %0, [%0], %1, %1;" : "+l"(address) : "l"(zero));
  }
};

/// A store and the fence that waits for it.
template <bool kSystem>
struct StoreFence : GlobalAtomic {
  __device__ void step() {
    asm volatile("st.global.u64 [%0], %0;" ::"l"(address) : "memory");
    if constexpr (kSystem) {
      asm volatile("membar.sys;" ::: "memory");
    } else {
      asm volatile("membar.gl;" ::: "memory");
    }
  }
};

/// An asynchronous copy of 16 bytes a lane and the wait for it.
struct CopyAsync {
  static constexpr int kSteps = 16;
  unsigned long long from;
  unsigned to;
  __device__ void start(const Operands& operands, int i) {
    to = shared_pointers() + threadIdx.x % 32 * 16 + i * 512;
    from = reinterpret_cast<unsigned long long>(operands.wide) + threadIdx.x % 32 * 16;
  }
  __device__ void step() {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16; cp.async.wait_all;" ::"r"(to), "l"(from)
                 : "memory");
  }
  __device__ unsigned result() const { return to; }
};

}  // namespace instructions
