#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "ops.cuh"

/// Atomic functions: what one thread reads and leaves, in global and in shared memory, and what all
/// threads of a block leave where their order does not matter.
namespace {

using fidelity::u16;
using fidelity::u32;
using fidelity::u64;

__device__ u64 g_cells[1 << 14];

template <class T>
struct Both {
  T old, now;
};

__device__ u64* cell() { return &g_cells[(blockIdx.x * blockDim.x + threadIdx.x) % (1 << 14)]; }

// ATOMIC(kind, type, expression of p, y and z): the first input is what is there before.
#define ATOMIC_IN(space, place, kinds, type, result, expression)                          \
  struct FIDELITY_JOIN(FIDELITY_LINE(space##_##result##_), Op) {                          \
    static __device__ u64 of(u64 a, u64 b, u64 c) {                                       \
      type* p = reinterpret_cast<type*>(place);                                           \
      [[maybe_unused]] const type y = fidelity::take<type>(b);                            \
      [[maybe_unused]] const type z = fidelity::take<type>(c);                            \
      *p = fidelity::take<type>(a);                                                       \
      [[maybe_unused]] const type old = expression;                                       \
      [[maybe_unused]] const type now = *const_cast<volatile_of<type>*>(p);               \
      return fidelity::word_of(result);                                                   \
    }                                                                                     \
  };                                                                                      \
  const bool FIDELITY_JOIN(FIDELITY_LINE(space##_##result##_), added) = fidelity::add_op( \
      {#space "." #result "." #expression, kinds,                                         \
       fidelity::launch_apply<FIDELITY_JOIN(FIDELITY_LINE(space##_##result##_), Op)>})

template <class T>
using volatile_of = std::conditional_t<std::is_arithmetic_v<T>, volatile T, T>;

__device__ u64* shared_cell() {
  __shared__ u64 cells[128];
  return &cells[threadIdx.x];
}

#define ATOMIC(kinds, type, expression)                    \
  ATOMIC_IN(global, cell(), kinds, type, old, expression); \
  ATOMIC_IN(global, cell(), kinds, type, now, expression); \
  ATOMIC_IN(shared, shared_cell(), kinds, type, now, expression)

ATOMIC("iii", int, atomicAdd(p, y));
ATOMIC("iii", int, atomicSub(p, y));
ATOMIC("iii", int, atomicMin(p, y));
ATOMIC("iii", int, atomicMax(p, y));
ATOMIC("iii", u32, atomicMin(p, y));
ATOMIC("iii", u32, atomicMax(p, y));
ATOMIC("iii", u32, atomicInc(p, y));
ATOMIC("iii", u32, atomicDec(p, y));
ATOMIC("iii", u32, atomicAnd(p, y));
ATOMIC("iii", u32, atomicOr(p, y));
ATOMIC("iii", u32, atomicXor(p, y));
ATOMIC("iii", u32, atomicExch(p, y));
ATOMIC("iiii", u32, atomicCAS(p, y, z));
ATOMIC("wwww", unsigned short, atomicCAS(p, y, z));
ATOMIC("fff", float, atomicAdd(p, y));
ATOMIC("fff", float, atomicExch(p, y));
ATOMIC("ddd", double, atomicAdd(p, y));
ATOMIC("hhh", __half, atomicAdd(p, y));
ATOMIC("HHH", __half2, atomicAdd(p, y));
ATOMIC("bbb", __nv_bfloat16, atomicAdd(p, y));
ATOMIC("BBB", __nv_bfloat162, atomicAdd(p, y));
using ull = unsigned long long;
ATOMIC("lll", ull, atomicAdd(p, y));
ATOMIC("lll", ull, atomicMin(p, y));
ATOMIC("lll", ull, atomicMax(p, y));
ATOMIC("lll", ull, atomicAnd(p, y));
ATOMIC("lll", ull, atomicXor(p, y));
ATOMIC("lll", ull, atomicExch(p, y));
ATOMIC("llll", ull, atomicCAS(p, y, z));
ATOMIC("lll", long long, atomicMin(p, y));
ATOMIC("lll", long long, atomicMax(p, y));

// Reductions, which give nothing back, and forms that only PTX spells.
#define RED(kinds, type, reg, text)                                                   \
  struct FIDELITY_LINE(Op) {                                                          \
    static __device__ u64 of(u64 a, u64 b, u64) {                                     \
      type* p = reinterpret_cast<type*>(cell());                                      \
      *p = static_cast<type>(a);                                                      \
      asm volatile(text " [%0], %1;" ::"l"(p), reg(static_cast<type>(b)) : "memory"); \
      return *reinterpret_cast<volatile type*>(p);                                    \
    }                                                                                 \
  };                                                                                  \
  ADD_OP_WITH(text, kinds, nullptr)

RED("fff", u32, "r", "red.global.add.f32");
RED("fff", u32, "r", "red.add.f32");
RED("ddd", u64, "l", "red.global.add.f64");
RED("hhh", u16, "h", "red.global.add.noftz.f16");
RED("HHH", u32, "r", "red.global.add.noftz.f16x2");
RED("iii", u32, "r", "red.global.inc.u32");
RED("iii", u32, "r", "red.global.min.s32");
RED("iii", u32, "r", "red.relaxed.gpu.global.max.u32");
RED("lll", u64, "l", "red.global.add.u64");
RED("lll", u64, "l", "red.global.min.s64");

enum Together {
  kAdd,
  kOr,
  kAnd,
  kXor,
  kMin,
  kMax,
  kInc,
  kDec,
  kAddFloat,
  kAdd64,
  kAddHalf2,
  kCas,
  kKinds
};

__global__ void together(u64* out, bool in_shared) {
  __shared__ u64 cells[kKinds];
  u64* p = in_shared ? cells : out;
  if (threadIdx.x < kKinds && in_shared) cells[threadIdx.x] = out[threadIdx.x];
  __syncthreads();
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  const auto word = [p](Together kind) { return reinterpret_cast<u32*>(&p[kind]); };
  atomicAdd(word(kAdd), i * 0x10001);
  atomicOr(word(kOr), 1U << (i * 5 % 23));
  atomicAnd(word(kAnd), ~(1U << (i * 5 % 29)));
  atomicXor(word(kXor), i * i);
  atomicMin(reinterpret_cast<int*>(word(kMin)), static_cast<int>(i * 7919 % 1000) - 500);
  atomicMax(reinterpret_cast<int*>(word(kMax)), static_cast<int>(i * 7919 % 1000) - 500);
  atomicInc(word(kInc), 6);
  atomicDec(word(kDec), 100);
  atomicAdd(reinterpret_cast<float*>(word(kAddFloat)), static_cast<float>(i % 16));
  atomicAdd(reinterpret_cast<ull*>(&p[kAdd64]), ull{i} << 28);
  atomicAdd(reinterpret_cast<__half2*>(word(kAddHalf2)), __floats2half2_rn(1.0F, -2.0F));
  for (u32 old = *reinterpret_cast<volatile u32*>(word(kCas)), seen;
       (seen = atomicCAS(word(kCas), old, old + 3)) != old;) {
    old = seen;
  }
  __syncthreads();
  if (threadIdx.x < kKinds && in_shared) out[threadIdx.x] = cells[threadIdx.x];
}

void atomics() {
  fidelity::run_ops("atomics", fidelity::ops_here());
  for (const bool in_shared : {false, true}) {
    std::vector<u64> first(kKinds);
    first[kAnd] = 0xffffffff;
    fidelity::Buffer<u64> out(first);
    together<<<in_shared ? 1 : 7, 224>>>(out.device(), in_shared);
    const cudaError_t error = fidelity::settle();
    for (int kind = 0; kind < kKinds; ++kind) {
      std::printf("atomics all_threads %s %d -> ", in_shared ? "shared" : "global", kind);
      if (error != cudaSuccess)
        std::printf("%s\n", fidelity::failure(error).c_str());
      else
        std::printf("%llx\n", static_cast<ull>(out.fetch()[kind]));
    }
  }
}
TOPIC("atomics", atomics);

}  // namespace
