#include "../flash.cuh"

namespace tested {

struct Right4 : Flash {
  static constexpr int kTile = 8;
};
struct Tiles3 : Flash {  // forgets to shrink the sum of the weights
  __device__ static float shrink_sum(float /*factor*/) { return 1.0f; }
};
struct Tiles4 : Flash {  // fills the last tile up with keys of zeros
  __device__ static int keys(const AttentionShape& s) {
    return (s.key_length + kTile - 1) / kTile * kTile;
  }
};
struct Masks3 : Flash {  // has no window
  __device__ static bool sees(int newest, int key, const AttentionShape& s) {
    return !s.causal || key <= newest;
  }
};
struct Heads2 : Flash {  // reads the first sequence's keys for all
  __device__ static int sequence(int /*b*/) { return 0; }
};
struct Extremes3 : Flash {  // subtracts nothing
  __device__ static float smallest() { return 0.0f; }
  __device__ static float largest(float before, float /*of_tile*/) { return before; }
};
struct Logs3 : Flash {  // scales the result once more
  __device__ static float log_sum_exp(float largest, float sum, const AttentionShape& s) {
    return s.scale * Flash::log_sum_exp(largest, sum, s);
  }
};

}  // namespace tested

ROOFLAB_ENTRY(right_4) { tested::flash<tested::Right4>(call); }
ROOFLAB_ENTRY(tiles_3) { tested::flash<tested::Tiles3>(call); }
ROOFLAB_ENTRY(tiles_4) { tested::flash<tested::Tiles4>(call); }
ROOFLAB_ENTRY(masks_3) { tested::flash<tested::Masks3>(call); }
ROOFLAB_ENTRY(heads_2) { tested::flash<tested::Heads2>(call); }
ROOFLAB_ENTRY(extremes_3) { tested::flash<tested::Extremes3>(call); }
ROOFLAB_ENTRY(logs_3) { tested::flash<tested::Logs3>(call); }
