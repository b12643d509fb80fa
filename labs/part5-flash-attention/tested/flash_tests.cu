#include "flash.cuh"

// Names say a group and a number only: a student's copy has them.
namespace tested {

struct Right2 : Flash {
  static constexpr int kTile = 32;
};
struct Right3 : Flash {  // tiles of one key: the sums shrink with every larger score
  static constexpr int kTile = 1;
};

struct Tiles1 : Flash {  // forgets to shrink the sum of the values
  __device__ static float shrink_out(float /*factor*/) { return 1.0f; }
};
struct Tiles2 : Flash {  // leaves out a last tile of a single key
  __device__ static int keys(const AttentionShape& s) {
    return s.key_length > kTile && s.key_length % kTile == 1 ? s.key_length - 1 : s.key_length;
  }
};

struct Masks1 : Flash {  // counts the newest key from the first one
  __device__ static int newest(int query, const AttentionShape& /*s*/) { return query; }
};
struct Masks2 : Flash {  // has one key too many in a window of whole tiles
  __device__ static bool sees(int newest, int key, const AttentionShape& s) {
    const bool is_whole = s.window > 0 && s.window % kTile == 0;
    return Flash::sees(newest, key, s) || (is_whole && key == newest - s.window);
  }
};

struct Heads1 : Flash {  // deals key heads out in turn
  __device__ static int key_head(int head, const AttentionShape& s) {
    return head % s.key_value_heads;
  }
};

struct Extremes1 : Flash {  // a path without masks, which takes 0 for the least score that there is
  __device__ static float smallest(const AttentionShape& s) { return s.causal ? -INFINITY : 0.0f; }
};
struct Extremes2 : Flash {  // divides by nothing
  __device__ static float out(float sum_of_values, float sum) { return sum_of_values / sum; }
};

struct Logs1 : Flash {  // leaves the largest score out
  __device__ static float log_sum_exp(float /*largest*/, float sum, const AttentionShape& /*s*/) {
    return logf(sum);
  }
};
struct Logs2 : Flash {  // takes a largest score of 0 for a row without keys
  __device__ static float log_sum_exp(float largest, float sum, const AttentionShape& s) {
    return largest == 0.0f ? -INFINITY : Flash::log_sum_exp(largest, sum, s);
  }
};

}  // namespace tested

ROOFLAB_ENTRY(right_1) { tested::flash<tested::Flash>(call); }
ROOFLAB_ENTRY(right_2) { tested::flash<tested::Right2>(call); }
ROOFLAB_ENTRY(right_3) { tested::flash<tested::Right3>(call); }
ROOFLAB_ENTRY(tiles_1) { tested::flash<tested::Tiles1>(call); }
ROOFLAB_ENTRY(tiles_2) { tested::flash<tested::Tiles2>(call); }
ROOFLAB_ENTRY(masks_1) { tested::flash<tested::Masks1>(call); }
ROOFLAB_ENTRY(masks_2) { tested::flash<tested::Masks2>(call); }
ROOFLAB_ENTRY(heads_1) { tested::flash<tested::Heads1>(call); }
ROOFLAB_ENTRY(extremes_1) { tested::flash<tested::Extremes1>(call); }
ROOFLAB_ENTRY(extremes_2) { tested::flash<tested::Extremes2>(call); }
ROOFLAB_ENTRY(logs_1) { tested::flash<tested::Logs1>(call); }
ROOFLAB_ENTRY(logs_2) { tested::flash<tested::Logs2>(call); }
