#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/semaphore>
#include <new>
#include <numeric>
#include <vector>

#include "check.h"

// A barrier and a pipeline's state have constructors that do nothing: shared memory starts as it
// is.
#pragma nv_diag_suppress static_var_with_dynamic_init

namespace cg = cooperative_groups;
constexpr int kThreads = 128;

// Grids.

/// Five rounds in which every block needs what another made in the same round.
__global__ void rounds(int* a, int* b, int n) {
  const cg::grid_group grid = cg::this_grid();
  const int i = static_cast<int>(grid.thread_rank());
  for (int round = 0; round < 5; ++round) {
    if (i < n) a[i] = b[(i + 37) % n] + 1;
    grid.sync();
    if (i < n) b[i] = a[(i + 91) % n] * 2;
    auto token = grid.barrier_arrive();
    grid.barrier_wait(std::move(token));
  }
}

void check_grids() {
  constexpr int kBlocks = 40;
  int n = kBlocks * kThreads;
  std::vector<int> a(n), b(n), result(n);
  std::iota(b.begin(), b.end(), 0);
  int *on_a, *on_b;
  CHECK(cudaMalloc(&on_a, n * sizeof(int)));
  CHECK(cudaMalloc(&on_b, n * sizeof(int)));
  CHECK(cudaMemcpy(on_b, b.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  void* arguments[] = {&on_a, &on_b, &n};
  int can = 0;
  CHECK(cudaDeviceGetAttribute(&can, cudaDevAttrCooperativeLaunch, 0));
  EXPECT(can == 1);
  CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(rounds), kBlocks, kThreads, arguments,
                                    0, nullptr));
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = kBlocks;
  config.blockDim = kThreads;
  config.attrs = &attribute;
  config.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&config, rounds, on_a, on_b, n));
  CHECK(cudaMemcpy(result.data(), on_b, n * sizeof(int), cudaMemcpyDeviceToHost));
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < n; ++i) a[i] = b[(i + 37) % n] + 1;
    for (int i = 0; i < n; ++i)
      b[i] = static_cast<int>(2U * static_cast<unsigned>(a[(i + 91) % n]));
  }
  EXPECT(result == b);
  CHECK(cudaFree(on_a));
  CHECK(cudaFree(on_b));
}

// Groups of a block.

template <int kSize>
__device__ int tile_values(const cg::thread_block& block) {
  const auto tile = cg::tiled_partition<kSize>(block);
  const int value = static_cast<int>(block.thread_rank());
  return cg::reduce(tile, value, cg::plus<int>()) + 3 * cg::exclusive_scan(tile, value) +
         7 * tile.shfl(value, 0) + static_cast<int>(tile.ballot(value & 1) & 0xff) +
         11 * static_cast<int>(tile.meta_group_rank());
}

__global__ void groups(int* out) {
  const cg::thread_block block = cg::this_thread_block();
  const int rank = static_cast<int>(block.thread_rank());
  int* mine = out + 9 * rank;
  mine[0] = tile_values<1>(block);
  mine[1] = tile_values<2>(block);
  mine[2] = tile_values<4>(block);
  mine[3] = tile_values<8>(block);
  mine[4] = tile_values<16>(block);
  mine[5] = tile_values<32>(block);
  const auto warp = cg::tiled_partition<32>(block);
  mine[6] = cg::reduce(cg::labeled_partition(warp, rank % 3), rank, cg::plus<int>());
  mine[7] = cg::reduce(cg::binary_partition(warp, rank % 5 < 2), rank, cg::greater<int>());
  mine[8] = 0;
  if (rank % 4 == 1) {
    const auto here = cg::coalesced_threads();
    mine[8] = static_cast<int>(here.size() * 100 + here.thread_rank()) + here.shfl(rank, 0);
  }
}

__global__ void large_tiles(int* out) {
  __shared__ cg::block_tile_memory<kThreads> memory;
  const auto block = cg::this_thread_block(memory);
  const auto tile = cg::tiled_partition<64>(block);
  out[block.thread_rank()] =
      cg::reduce(tile, static_cast<int>(block.thread_rank()), cg::plus<int>());
}

int expected_of_tile(int rank, int size) {
  const int first = rank / size * size;
  int sum = 0, before = 0, ballot = 0;
  for (int i = 0; i < size; ++i) {
    sum += first + i;
    before += first + i < rank ? first + i : 0;
    if (i < 8 && (first + i) % 2 == 1) ballot |= 1 << i;
  }
  return sum + 3 * before + 7 * first + ballot + 11 * (rank / size);
}

void check_groups(int* room) {
  std::vector<int> out(9 * kThreads);
  groups<<<1, kThreads>>>(room);
  CHECK(cudaMemcpy(out.data(), room, out.size() * sizeof(int), cudaMemcpyDeviceToHost));
  for (int rank = 0; rank < kThreads; ++rank) {
    const int* mine = &out[9 * rank];
    for (int k = 0; k < 6; ++k) EXPECT(mine[k] == expected_of_tile(rank, 1 << k));
    int labeled = 0, largest = 0, size = 0, before = 0;
    for (int i = rank / 32 * 32; i < rank / 32 * 32 + 32; ++i) {
      if (i % 3 == rank % 3) labeled += i;
      if ((i % 5 < 2) == (rank % 5 < 2)) largest = i;
      size += i % 4 == 1;
      before += i % 4 == 1 && i < rank;
    }
    EXPECT(mine[6] == labeled);
    EXPECT(mine[7] == largest);
    EXPECT(mine[8] == (rank % 4 == 1 ? 100 * size + before + rank / 32 * 32 + 1 : 0));
  }
  large_tiles<<<1, kThreads>>>(room);
  CHECK(cudaMemcpy(out.data(), room, kThreads * sizeof(int), cudaMemcpyDeviceToHost));
  for (int rank = 0; rank < kThreads; ++rank) EXPECT(out[rank] == (rank < 64 ? 2016 : 6112));
}

// libcu++'s barriers and pipelines.

using Barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void through_barrier(const int* in, int* out, int tiles) {
  __shared__ Barrier barrier;
  __shared__ alignas(16) int buffer[2][kThreads];
  const auto block = cg::this_thread_block();
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  block.sync();
  int sum = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    cuda::memcpy_async(block, buffer[tile & 1], in + tile * kThreads,
                       cuda::aligned_size_t<16>(sizeof buffer[0]), barrier);
    barrier.arrive_and_wait();
    sum += buffer[tile & 1][(threadIdx.x + 1) % kThreads];
    barrier.arrive_and_wait();
  }
  out[threadIdx.x] = sum;
}

/// Half of the threads copy, the other half add up.
__global__ void through_pipeline(const int* in, int* out, int tiles) {
  constexpr int kHalf = kThreads / 2;
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  __shared__ int buffer[2][kHalf];
  const bool copies = threadIdx.x < kHalf;
  auto pipeline =
      cuda::make_pipeline(cg::this_thread_block(), &state,
                          copies ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
  const int i = static_cast<int>(threadIdx.x) % kHalf;
  int sum = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    if (copies) {
      pipeline.producer_acquire();
      cuda::memcpy_async(&buffer[tile % 2][i], in + tile * kThreads + i, sizeof(int), pipeline);
      pipeline.producer_commit();
    } else {
      pipeline.consumer_wait();
      sum += buffer[tile % 2][(i + 1) % kHalf];
      pipeline.consumer_release();
    }
  }
  if (!copies) out[i] = sum;
}

/// A latch that all pass, and a counter under a lock of warps that spin.
__global__ void latch_and_lock(int* out) {
  using Latch = cuda::latch<cuda::thread_scope_block>;
  using Lock = cuda::binary_semaphore<cuda::thread_scope_block>;
  __shared__ alignas(Latch) char latch_place[sizeof(Latch)];
  __shared__ alignas(Lock) char lock_place[sizeof(Lock)];
  __shared__ int values[kThreads], counter;
  Latch& latch = *reinterpret_cast<Latch*>(latch_place);
  Lock& lock = *reinterpret_cast<Lock*>(lock_place);
  if (threadIdx.x == 0) {
    new (&latch) Latch(kThreads);
    new (&lock) Lock(1);
    counter = 0;
  }
  __syncthreads();
  values[threadIdx.x] = static_cast<int>(threadIdx.x);
  latch.arrive_and_wait();
  out[threadIdx.x] = values[kThreads - 1 - threadIdx.x];
  if (threadIdx.x % 32 == 0) {
    lock.acquire();
    counter += 5;
    lock.release();
  }
  __syncthreads();
  if (threadIdx.x == 0) out[kThreads] = counter;
}

void check_barriers(int* room) {
  constexpr int kTiles = 6;
  std::vector<int> in(kTiles * kThreads), out(kThreads + 1);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i * i % 1000);
  int* on_in;
  CHECK(cudaMalloc(&on_in, in.size() * sizeof(int)));
  CHECK(cudaMemcpy(on_in, in.data(), in.size() * sizeof(int), cudaMemcpyHostToDevice));
  const auto sum_of = [&](int i) {
    int sum = 0;
    for (int tile = 0; tile < kTiles; ++tile) sum += in[tile * kThreads + i];
    return sum;
  };
  through_barrier<<<1, kThreads>>>(on_in, room, kTiles);
  CHECK(cudaMemcpy(out.data(), room, kThreads * sizeof(int), cudaMemcpyDeviceToHost));
  for (int i = 0; i < kThreads; ++i) EXPECT(out[i] == sum_of((i + 1) % kThreads));
  through_pipeline<<<1, kThreads>>>(on_in, room, kTiles);
  CHECK(cudaMemcpy(out.data(), room, kThreads / 2 * sizeof(int), cudaMemcpyDeviceToHost));
  for (int i = 0; i < kThreads / 2; ++i) EXPECT(out[i] == sum_of((i + 1) % (kThreads / 2)));
  latch_and_lock<<<1, kThreads>>>(room);
  CHECK(cudaMemcpy(out.data(), room, out.size() * sizeof(int), cudaMemcpyDeviceToHost));
  for (int i = 0; i < kThreads; ++i) EXPECT(out[i] == kThreads - 1 - i);
  EXPECT(out[kThreads] == 5 * kThreads / 32);
  CHECK(cudaFree(on_in));
}

int main(int argc, char**) {
  if (argc > 1) {  // more blocks than run at once
    int n = 0;
    int* none = nullptr;
    void* arguments[] = {&none, &none, &n};
    EXPECT_ERROR(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(rounds), 100'000, kThreads,
                                             arguments, 0, nullptr),
                 cudaErrorCooperativeLaunchTooLarge);
    return 0;
  }
  int* room;
  CHECK(cudaMalloc(&room, 9 * kThreads * sizeof(int)));
  check_grids();
  check_groups(room);
  check_barriers(room);
  CHECK(cudaFree(room));
  std::puts("cooperation is right");
}
