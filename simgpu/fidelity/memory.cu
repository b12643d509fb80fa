#include <string>

#include "ops.cuh"

/// Spaces, loads and stores, copies from global to shared memory, and tiles through ldmatrix.
namespace {

using fidelity::Buffer;
using fidelity::u32;
using fidelity::u64;

__constant__ u32 c_words[16] = {100, 101, 102, 103, 104, 105, 106, 107,
                                108, 109, 110, 111, 112, 113, 114, 115};
__device__ u32 g_words[64];

/// Words of 32 lanes, 4 each; `in` holds 1024 words, word i being i * 0x01010101.
struct Item {
  std::string name;
  void (*launch)(const u32* in, u32* out);
};

std::vector<Item>& items() {
  static std::vector<Item> all;
  return all;
}

template <class F>
__global__ void __launch_bounds__(32) in_block(const u32* in, u32* out) {
  u32 words[4] = {};
  F::of(threadIdx.x, in, out + 1024, words);
  for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = words[i];
}

bool add_item(const char* name, void (*launch)(const u32*, u32*)) {
  items().push_back({name, launch});
  return true;
}

// MEMORY("name", dynamic shared bytes, statements that set `words`)
#define MEMORY(name, shared, ...)                                                        \
  struct FIDELITY_LINE(Item) {                                                           \
    static __device__ void of([[maybe_unused]] u32 lane, [[maybe_unused]] const u32* in, \
                              [[maybe_unused]] u32* spare, u32* words) {                 \
      __VA_ARGS__                                                                        \
    }                                                                                    \
  };                                                                                     \
  const bool FIDELITY_LINE(added_) = add_item(name, [](const u32* in, u32* out) {        \
    in_block<FIDELITY_LINE(Item)><<<1, 32, shared>>>(in, out);                           \
  })

__device__ u32 is_space(const void* p) {
  return __isGlobal(p) | __isShared(p) << 1 | __isLocal(p) << 2 | __isConstant(p) << 3;
}
__device__ u32 shared_address(const void* p) {
  return static_cast<u32>(__cvta_generic_to_shared(p));
}
__device__ void fill(u32* shared, const u32* in, int count) {
  for (int i = static_cast<int>(threadIdx.x); i < count; i += 32) shared[i] = in[i];
  __syncthreads();
}

MEMORY("spaces", 64, extern __shared__ u32 dynamic[]; __shared__ u32 fixed[4];
       u32 local[4] = {lane, in[1], 2, 3};
       words[0] = is_space(in) | is_space(g_words) << 8 | is_space(fixed) << 16 |
                  is_space(dynamic) << 24;
       words[1] = is_space(&local[in[1] & 3]) | is_space(c_words) << 8 | is_space(nullptr) << 16 |
                  is_space(reinterpret_cast<const void*>(u64{16})) << 24;
       words[2] = is_space(spare + 7););
MEMORY("shared_layout", 256, extern __shared__ u32 dynamic[]; __shared__ char first[5];
       __shared__ double second; __shared__ u32 third[3]; first[lane % 5] = 1; second = 2;
       third[lane % 3] = 5; dynamic[lane] = 3; words[0] = shared_address(first);
       words[1] = shared_address(&second); words[2] = shared_address(third);
       words[3] = shared_address(dynamic););
MEMORY("shared_layout_dynamic_alone", 256, extern __shared__ u32 dynamic[]; dynamic[lane] = 1;
       words[0] = shared_address(dynamic); asm volatile("mov.u32 %0, %%dynamic_smem_size;"
                                                        : "=r"(words[1]));
       asm volatile("mov.u32 %0, %%total_smem_size;"
                    : "=r"(words[2])););
MEMORY("shared_layout_static_20", 100, extern __shared__ u32 dynamic[]; __shared__ u32 fixed[5];
       fixed[lane % 5] = dynamic[lane % 25] = 1; words[0] = shared_address(dynamic);
       words[1] = shared_address(fixed); asm volatile("mov.u32 %0, %%dynamic_smem_size;"
                                                      : "=r"(words[2]));
       asm volatile("mov.u32 %0, %%total_smem_size;"
                    : "=r"(words[3])););
MEMORY("shared_sizes_none", 0,
       asm volatile("mov.u32 %0, %%dynamic_smem_size;"
                    : "=r"(words[0]));
       asm volatile("mov.u32 %0, %%total_smem_size;"
                    : "=r"(words[1])););
MEMORY("registers", 0,
       asm volatile("mov.u32 %0, %%nsmid;"
                    : "=r"(words[0]));
       u32 x; u32 y; asm volatile("mov.u32 %0, %%ntid.x;"
                                  : "=r"(x));
       asm volatile("mov.u32 %0, %%nctaid.x;"
                    : "=r"(y));
       words[1] = x | y << 16; asm volatile("mov.u32 %0, %%nwarpid;"
                                            : "=r"(words[2]));
       asm volatile("mov.u32 %0, %%gridid;"
                    : "=r"(x));
       asm volatile("mov.u32 %0, WARP_SZ;"
                    : "=r"(words[3])););
MEMORY("generic_loads", 0, __shared__ u32 fixed[32]; u32 local[4] = {lane, lane + 1, in[2], in[3]};
       fixed[lane] = lane * 3; __syncthreads();
       const u32* places[4] = {fixed + (31 - lane), local + (lane & 3), in + lane,
                               c_words + (lane & 15)};
       for (u32 i = 0; i < 4; ++i)
           words[i] = *const_cast<const volatile u32*>(places[(i + in[0]) & 3]););
#define LOAD(op) \
  MEMORY(op, 0, asm volatile(op ".u32 %0, [%1];" : "=r"(words[0]) : "l"(in + lane * 5));)
LOAD("ld.global.ca");
LOAD("ld.global.cg");
LOAD("ld.global.cs");
LOAD("ld.global.lu");
LOAD("ld.global.cv");
LOAD("ld.global.nc");
LOAD("ld.volatile.global");
LOAD("ld.relaxed.gpu.global");
LOAD("ld.acquire.sys.global");
LOAD("ld.global.L1::no_allocate");
LOAD("ld.global.L1::evict_last");
LOAD("ld.global.L2::128B");
LOAD("ld");
MEMORY("ld.global.s8", 0,
       asm volatile("ld.global.s8 %0, [%1];"
                    : "=r"(words[0])
                    : "l"(reinterpret_cast<const char*>(in + 127) + lane * 1)););
MEMORY("ld.global.u8", 0,
       asm volatile("ld.global.u8 %0, [%1];"
                    : "=r"(words[0])
                    : "l"(reinterpret_cast<const char*>(in + 127) + lane * 1)););
MEMORY("ld.global.s16", 0,
       asm volatile("ld.global.s16 %0, [%1];"
                    : "=r"(words[0])
                    : "l"(reinterpret_cast<const char*>(in + 127) + lane * 2)););
MEMORY("ld.global.u16", 0,
       asm volatile("ld.global.u16 %0, [%1];"
                    : "=r"(words[0])
                    : "l"(reinterpret_cast<const char*>(in + 127) + lane * 2)););
MEMORY("ld.global.v4.s8", 0,
       asm volatile("ld.global.v4.s8 {%0,%1,%2,%3}, [%4];"
                    : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                    : "l"(in + 100 + lane)););
MEMORY("ld.global.v4.u8", 0,
       asm volatile("ld.global.v4.u8 {%0,%1,%2,%3}, [%4];"
                    : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                    : "l"(in + 100 + lane)););
MEMORY("ld.global.v4.u32", 0,
       asm volatile("ld.global.v4.u32 {%0,%1,%2,%3}, [%4];"
                    : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                    : "l"(in + lane * 4)););
MEMORY("ld.global.v2.u64", 0, u64 a; u64 b; asm volatile("ld.global.v2.u64 {%0,%1}, [%2];"
                                                         : "=l"(a), "=l"(b)
                                                         : "l"(in + lane * 4));
       words[0] = a; words[1] = a >> 32; words[2] = b; words[3] = b >> 32;);
MEMORY("ldg", 0, const uint4 v = __ldg(reinterpret_cast<const uint4*>(in) + lane); words[0] = v.x;
       words[1] = v.y; words[2] = v.z; words[3] = v.w;);
MEMORY("ldcs_stcg", 0, __stcg(spare + lane, lane * 3); __stwt(spare + 32 + lane, lane * 5);
       __threadfence(); words[0] = __ldcg(spare + lane); words[1] = __ldcs(spare + 32 + lane););
MEMORY("prefetch", 0, asm volatile("prefetch.global.L1 [%0];" ::"l"(in + lane));
       asm volatile("prefetch.global.L2 [%0];" ::"l"(in + lane));
       asm volatile("prefetchu.L1 [%0];" ::"l"(in + lane)); words[0] = in[lane];);
MEMORY("prefetch_nowhere", 0, asm volatile("prefetch.global.L2 [%0];" ::"l"(u64{0x10}));
       asm volatile("prefetch.global.L1 [%0];" ::"l"(u64{1} << 45)); words[0] = 1;);
MEMORY("stores_8_and_16", 0,
       asm volatile("st.global.u8 [%0], %1;" ::"l"(reinterpret_cast<char*>(spare) + lane),
                    "r"(lane * 0x101 + 7)
                    : "memory");
       asm volatile("st.global.u16 [%0], %1;" ::"l"(reinterpret_cast<char*>(spare + 64) + lane * 2),
                    "h"(static_cast<unsigned short>(lane * 0x301))
                    : "memory");
       __syncthreads(); words[0] = spare[lane / 4]; words[1] = spare[64 + lane / 2];);
MEMORY("cp.async.ca 4 0", 0, __shared__ __align__(16) u32 tile[128];
       for (int i = 0; i < 4; ++i) tile[lane * 4 + i] = 0xeeeeeeee; __syncthreads();
       asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2; cp.async.wait_all;" ::"r"(
                        shared_address(tile + lane * 4)),
                    "l"(in + lane * 4 + 4), "r"(0 + in[0])
                    : "memory");
       __syncthreads(); for (int i = 0; i < 4; ++i) words[i] = tile[lane * 4 + i];);
MEMORY("cp.async.ca 4 1", 0, __shared__ __align__(16) u32 tile[128];
       for (int i = 0; i < 4; ++i) tile[lane * 4 + i] = 0xeeeeeeee; __syncthreads();
       asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2; cp.async.wait_all;" ::"r"(
                        shared_address(tile + lane * 4)),
                    "l"(in + lane * 4 + 4), "r"(1 + in[0])
                    : "memory");
       __syncthreads(); for (int i = 0; i < 4; ++i) words[i] = tile[lane * 4 + i];);
MEMORY("cp.async.ca 4 3", 0, __shared__ __align__(16) u32 tile[128];
       for (int i = 0; i < 4; ++i) tile[lane * 4 + i] = 0xeeeeeeee; __syncthreads();
       asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2; cp.async.wait_all;" ::"r"(
                        shared_address(tile + lane * 4)),
                    "l"(in + lane * 4 + 4), "r"(3 + in[0])
                    : "memory");
       __syncthreads(); for (int i = 0; i < 4; ++i) words[i] = tile[lane * 4 + i];);
MEMORY("cp.async.ca 4 2", 0, __shared__ __align__(16) u32 tile[128];
       for (int i = 0; i < 4; ++i) tile[lane * 4 + i] = 0xeeeeeeee; __syncthreads();
       asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2; cp.async.wait_all;" ::"r"(
                        shared_address(tile + lane * 4)),
                    "l"(in + lane * 4 + 4), "r"(2 + in[0])
                    : "memory");
       __syncthreads(); for (int i = 0; i < 4; ++i) words[i] = tile[lane * 4 + i];);
MEMORY("cp.async.ca 4 3", 0, __shared__ __align__(16) u32 tile[128];
       for (int i = 0; i < 4; ++i) tile[lane * 4 + i] = 0xeeeeeeee; __syncthreads();
       asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2; cp.async.wait_all;" ::"r"(
                        shared_address(tile + lane * 4)),
                    "l"(in + lane * 4 + 4), "r"(3 + in[0])
                    : "memory");
       __syncthreads(); for (int i = 0; i < 4; ++i) words[i] = tile[lane * 4 + i];);
MEMORY("cp.async.ca 4 4", 0, __shared__ __align__(16) u32 tile[128];
       for (int i = 0; i < 4; ++i) tile[lane * 4 + i] = 0xeeeeeeee; __syncthreads();
       asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2; cp.async.wait_all;" ::"r"(
                        shared_address(tile + lane * 4)),
                    "l"(in + lane * 4 + 4), "r"(4 + in[0])
                    : "memory");
       __syncthreads(); for (int i = 0; i < 4; ++i) words[i] = tile[lane * 4 + i];);
MEMORY("cp.async.ca 8 0", 0, __shared__ __align__(16) u32 tile[128];
       for (int i = 0; i < 4; ++i) tile[lane * 4 + i] = 0xeeeeeeee; __syncthreads();
       asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2; cp.async.wait_all;" ::"r"(
                        shared_address(tile + lane * 4)),
                    "l"(in + lane * 4 + 4), "r"(0 + in[0])
                    : "memory");
       __syncthreads(); for (int i = 0; i < 4; ++i) words[i] = tile[lane * 4 + i];);
MEMORY("cp.async.ca 8 1", 0, __shared__ __align__(16) u32 tile[128];
       for (int i = 0; i < 4; ++i) tile[lane * 4 + i] = 0xeeeeeeee; __syncthreads();
       asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2; cp.async.wait_all;" ::"r"(
                        shared_address(tile + lane * 4)),
                    "l"(in + lane * 4 + 4), "r"(1 + in[0])
                    : "memory");
       __syncthreads(); for (int i = 0; i < 4; ++i) words[i] = tile[lane * 4 + i];);
MEMORY("cp.async.ca 8 3", 0, __shared__ __align__(16) u32 tile[128];
       for (int i = 0; i < 4; ++i) tile[lane * 4 + i] = 0xeeeeeeee; __syncthreads();
       asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2; cp.async.wait_all;" ::"r"(
                        shared_address(tile + lane * 4)),
                    "l"(in + lane * 4 + 4), "r"(3 + in[0])
                    : "memory");
       __syncthreads(); for (int i = 0; i < 4; ++i) words[i] = tile[lane * 4 + i];);
MEMORY("cp.async.ca 8 4", 0, __shared__ __align__(16) u32 tile[128];
       for (int i = 0; i < 4; ++i) tile[lane * 4 + i] = 0xeeeeeeee; __syncthreads();
       asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2; cp.async.wait_all;" ::"r"(
                        shared_address(tile + lane * 4)),
                    "l"(in + lane * 4 + 4), "r"(4 + in[0])
                    : "memory");
       __syncthreads(); for (int i = 0; i < 4; ++i) words[i] = tile[lane * 4 + i];);
MEMORY("cp.async.ca 8 7", 0, __shared__ __align__(16) u32 tile[128];
       for (int i = 0; i < 4; ++i) tile[lane * 4 + i] = 0xeeeeeeee; __syncthreads();
       asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2; cp.async.wait_all;" ::"r"(
                        shared_address(tile + lane * 4)),
                    "l"(in + lane * 4 + 4), "r"(7 + in[0])
                    : "memory");
       __syncthreads(); for (int i = 0; i < 4; ++i) words[i] = tile[lane * 4 + i];);
MEMORY("cp.async.ca 8 8", 0, __shared__ __align__(16) u32 tile[128];
       for (int i = 0; i < 4; ++i) tile[lane * 4 + i] = 0xeeeeeeee; __syncthreads();
       asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2; cp.async.wait_all;" ::"r"(
                        shared_address(tile + lane * 4)),
                    "l"(in + lane * 4 + 4), "r"(8 + in[0])
                    : "memory");
       __syncthreads(); for (int i = 0; i < 4; ++i) words[i] = tile[lane * 4 + i];);
MEMORY("cp.async.ca 16 0", 0, __shared__ __align__(16) u32 tile[128];
       for (int i = 0; i < 4; ++i) tile[lane * 4 + i] = 0xeeeeeeee; __syncthreads();
       asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2; cp.async.wait_all;" ::"r"(
                        shared_address(tile + lane * 4)),
                    "l"(in + lane * 4 + 4), "r"(0 + in[0])
                    : "memory");
       __syncthreads(); for (int i = 0; i < 4; ++i) words[i] = tile[lane * 4 + i];);
MEMORY("cp.async.cg 16 0", 0, __shared__ __align__(16) u32 tile[128];
       for (int i = 0; i < 4; ++i) tile[lane * 4 + i] = 0xeeeeeeee; __syncthreads();
       asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2; cp.async.wait_all;" ::"r"(
                        shared_address(tile + lane * 4)),
                    "l"(in + lane * 4 + 4), "r"(0 + in[0])
                    : "memory");
       __syncthreads(); for (int i = 0; i < 4; ++i) words[i] = tile[lane * 4 + i];);
MEMORY("cp.async.ca 16 1", 0, __shared__ __align__(16) u32 tile[128];
       for (int i = 0; i < 4; ++i) tile[lane * 4 + i] = 0xeeeeeeee; __syncthreads();
       asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2; cp.async.wait_all;" ::"r"(
                        shared_address(tile + lane * 4)),
                    "l"(in + lane * 4 + 4), "r"(1 + in[0])
                    : "memory");
       __syncthreads(); for (int i = 0; i < 4; ++i) words[i] = tile[lane * 4 + i];);
MEMORY("cp.async.cg 16 1", 0, __shared__ __align__(16) u32 tile[128];
       for (int i = 0; i < 4; ++i) tile[lane * 4 + i] = 0xeeeeeeee; __syncthreads();
       asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2; cp.async.wait_all;" ::"r"(
                        shared_address(tile + lane * 4)),
                    "l"(in + lane * 4 + 4), "r"(1 + in[0])
                    : "memory");
       __syncthreads(); for (int i = 0; i < 4; ++i) words[i] = tile[lane * 4 + i];);
MEMORY("cp.async.ca 16 3", 0, __shared__ __align__(16) u32 tile[128];
       for (int i = 0; i < 4; ++i) tile[lane * 4 + i] = 0xeeeeeeee; __syncthreads();
       asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2; cp.async.wait_all;" ::"r"(
                        shared_address(tile + lane * 4)),
                    "l"(in + lane * 4 + 4), "r"(3 + in[0])
                    : "memory");
       __syncthreads(); for (int i = 0; i < 4; ++i) words[i] = tile[lane * 4 + i];);
MEMORY("cp.async.cg 16 3", 0, __shared__ __align__(16) u32 tile[128];
       for (int i = 0; i < 4; ++i) tile[lane * 4 + i] = 0xeeeeeeee; __syncthreads();
       asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2; cp.async.wait_all;" ::"r"(
                        shared_address(tile + lane * 4)),
                    "l"(in + lane * 4 + 4), "r"(3 + in[0])
                    : "memory");
       __syncthreads(); for (int i = 0; i < 4; ++i) words[i] = tile[lane * 4 + i];);
MEMORY("cp.async.ca 16 8", 0, __shared__ __align__(16) u32 tile[128];
       for (int i = 0; i < 4; ++i) tile[lane * 4 + i] = 0xeeeeeeee; __syncthreads();
       asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2; cp.async.wait_all;" ::"r"(
                        shared_address(tile + lane * 4)),
                    "l"(in + lane * 4 + 4), "r"(8 + in[0])
                    : "memory");
       __syncthreads(); for (int i = 0; i < 4; ++i) words[i] = tile[lane * 4 + i];);
MEMORY("cp.async.cg 16 8", 0, __shared__ __align__(16) u32 tile[128];
       for (int i = 0; i < 4; ++i) tile[lane * 4 + i] = 0xeeeeeeee; __syncthreads();
       asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2; cp.async.wait_all;" ::"r"(
                        shared_address(tile + lane * 4)),
                    "l"(in + lane * 4 + 4), "r"(8 + in[0])
                    : "memory");
       __syncthreads(); for (int i = 0; i < 4; ++i) words[i] = tile[lane * 4 + i];);
MEMORY("cp.async.ca 16 15", 0, __shared__ __align__(16) u32 tile[128];
       for (int i = 0; i < 4; ++i) tile[lane * 4 + i] = 0xeeeeeeee; __syncthreads();
       asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2; cp.async.wait_all;" ::"r"(
                        shared_address(tile + lane * 4)),
                    "l"(in + lane * 4 + 4), "r"(15 + in[0])
                    : "memory");
       __syncthreads(); for (int i = 0; i < 4; ++i) words[i] = tile[lane * 4 + i];);
MEMORY("cp.async.cg 16 15", 0, __shared__ __align__(16) u32 tile[128];
       for (int i = 0; i < 4; ++i) tile[lane * 4 + i] = 0xeeeeeeee; __syncthreads();
       asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2; cp.async.wait_all;" ::"r"(
                        shared_address(tile + lane * 4)),
                    "l"(in + lane * 4 + 4), "r"(15 + in[0])
                    : "memory");
       __syncthreads(); for (int i = 0; i < 4; ++i) words[i] = tile[lane * 4 + i];);
MEMORY("cp.async.ca 16 16", 0, __shared__ __align__(16) u32 tile[128];
       for (int i = 0; i < 4; ++i) tile[lane * 4 + i] = 0xeeeeeeee; __syncthreads();
       asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2; cp.async.wait_all;" ::"r"(
                        shared_address(tile + lane * 4)),
                    "l"(in + lane * 4 + 4), "r"(16 + in[0])
                    : "memory");
       __syncthreads(); for (int i = 0; i < 4; ++i) words[i] = tile[lane * 4 + i];);
MEMORY("cp.async.cg 16 16", 0, __shared__ __align__(16) u32 tile[128];
       for (int i = 0; i < 4; ++i) tile[lane * 4 + i] = 0xeeeeeeee; __syncthreads();
       asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2; cp.async.wait_all;" ::"r"(
                        shared_address(tile + lane * 4)),
                    "l"(in + lane * 4 + 4), "r"(16 + in[0])
                    : "memory");
       __syncthreads(); for (int i = 0; i < 4; ++i) words[i] = tile[lane * 4 + i];);
MEMORY("cp.async ignore_src", 0, __shared__ __align__(16) u32 tile[128];
       for (int i = 0; i < 4; ++i) tile[lane * 4 + i] = 0xeeeeeeee; __syncthreads(); asm volatile(
           "{ .reg .pred p; setp.gt.u32 p, %2, 15; cp.async.cg.shared.global [%0], [%1], 16, p; "
           "cp.async.commit_group; cp.async.wait_group 0; }" ::"r"(shared_address(tile + lane * 4)),
           "l"(in + lane * 4 + 4), "r"(lane)
           : "memory");
       __syncthreads(); for (int i = 0; i < 4; ++i) words[i] = tile[lane * 4 + i];);
MEMORY("ldmatrix.x1 4", 0, __shared__ __align__(16) u32 tile[512]; fill(tile, in, 512);
       asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                    : "=r"(words[0])
                    : "r"(shared_address(tile + (lane * 4 % 512)))););
MEMORY("ldmatrix.x1 8", 0, __shared__ __align__(16) u32 tile[512]; fill(tile, in, 512);
       asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                    : "=r"(words[0])
                    : "r"(shared_address(tile + (lane * 8 % 512)))););
MEMORY("ldmatrix.x1.trans 4", 0, __shared__ __align__(16) u32 tile[512]; fill(tile, in, 512);
       asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
                    : "=r"(words[0])
                    : "r"(shared_address(tile + (lane * 4 % 512)))););
MEMORY("ldmatrix.x1.trans 8", 0, __shared__ __align__(16) u32 tile[512]; fill(tile, in, 512);
       asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
                    : "=r"(words[0])
                    : "r"(shared_address(tile + (lane * 8 % 512)))););
MEMORY("ldmatrix.x2 4", 0, __shared__ __align__(16) u32 tile[512]; fill(tile, in, 512);
       asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
                    : "=r"(words[0]), "=r"(words[1])
                    : "r"(shared_address(tile + (lane * 4 % 512)))););
MEMORY("ldmatrix.x2 8", 0, __shared__ __align__(16) u32 tile[512]; fill(tile, in, 512);
       asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
                    : "=r"(words[0]), "=r"(words[1])
                    : "r"(shared_address(tile + (lane * 8 % 512)))););
MEMORY("ldmatrix.x2.trans 4", 0, __shared__ __align__(16) u32 tile[512]; fill(tile, in, 512);
       asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                    : "=r"(words[0]), "=r"(words[1])
                    : "r"(shared_address(tile + (lane * 4 % 512)))););
MEMORY("ldmatrix.x2.trans 8", 0, __shared__ __align__(16) u32 tile[512]; fill(tile, in, 512);
       asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                    : "=r"(words[0]), "=r"(words[1])
                    : "r"(shared_address(tile + (lane * 8 % 512)))););
MEMORY("ldmatrix.x4 4", 0, __shared__ __align__(16) u32 tile[512]; fill(tile, in, 512);
       asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                    : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                    : "r"(shared_address(tile + (lane * 4 % 512)))););
MEMORY("ldmatrix.x4.trans 4", 0, __shared__ __align__(16) u32 tile[512]; fill(tile, in, 512);
       asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                    : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                    : "r"(shared_address(tile + (lane * 4 % 512)))););
MEMORY("local_array", 0, u32 values[40]; for (u32 i = 0; i < 40; ++i) values[i] = i * lane;
       for (u32 i = 0; i < 40; ++i) values[(i * 7 + in[1]) % 40] += values[(i * 11 + lane) % 40];
       words[0] = values[lane]; words[1] = values[(lane + in[1]) % 40]; words[2] = values[39];);
MEMORY("constant_by_lane", 0, words[0] = c_words[lane & 15]; words[1] = c_words[in[0] & 15];);
MEMORY("shared_bytes", 0, __shared__ char bytes[128];
       bytes[lane * 3] = static_cast<char>(lane - 16); __syncthreads();
       words[0] = static_cast<u32>(bytes[(31 - lane) * 3]);
       words[1] = reinterpret_cast<unsigned char*>(bytes)[lane * 3];);
MEMORY("vote_of_barrier", 0, words[0] = __syncthreads_count(lane % 3 == 0);
       words[1] = __syncthreads_and(lane < 31); words[2] = __syncthreads_or(lane == 31););
MEMORY("alignment_of_shared", 0, __shared__ char a; __shared__ __align__(128) char b;
       __shared__ short c; a = b = 1; c = 2; words[0] = shared_address(&a);
       words[1] = shared_address(&b); words[2] = shared_address(&c););

MEMORY("absent_isspacep.param", 0,
       asm volatile("{ .reg .pred p; isspacep.param p, %1; selp.u32 %0, 1, 0, p; }"
                    : "=r"(words[0])
                    : "l"(in)););

void memory() {
  std::vector<u32> values(1024);
  for (u32 i = 0; i < 1024; ++i) values[i] = i * 0x01010101U;
  for (const Item& item : items()) {
    Buffer<u32> in(values);
    Buffer<u32> out(std::size_t{2048});
    item.launch(in.device(), out.device());
    const cudaError_t error = fidelity::settle();
    if (error != cudaSuccess) {
      std::printf("memory %s -> %s\n", item.name.c_str(), fidelity::failure(error).c_str());
      continue;
    }
    const std::vector<u32>& words = out.fetch();
    for (int i = 0; i < 4; ++i) {
      std::printf("memory %s word %d ->", item.name.c_str(), i);
      for (int lane = 0; lane < 32; ++lane) std::printf(" %x", words[lane * 4 + i]);
      std::printf("\n");
    }
  }
}
TOPIC("memory", memory);

}  // namespace
