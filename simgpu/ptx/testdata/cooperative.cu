// Cooperative groups: %envreg, votes, shuffles, atomics and barriers.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

__device__ int total;

__global__ void sum_all(const int* values, int* out) {
  cg::grid_group grid = cg::this_grid();
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const int sum = cg::reduce(warp, values[grid.thread_rank()], cg::plus<int>());
  if (warp.thread_rank() == 0) atomicAdd(&total, sum);
  grid.sync();
  const unsigned odd = __ballot_sync(~0u, values[threadIdx.x] & 1);
  out[grid.thread_rank()] = total + __popc(odd) + __shfl_down_sync(~0u, sum, 4) +
                            __reduce_add_sync(~0u, sum) + __any_sync(~0u, sum > 3);
  cg::coalesced_group active = cg::coalesced_threads();
  if (active.thread_rank() == 0) out[0] = static_cast<int>(clock64());
}
