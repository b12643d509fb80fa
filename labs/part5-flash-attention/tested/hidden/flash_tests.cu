#include "../flash.cuh"

namespace tested {

struct Right4 : Flash {
  static constexpr int kTile = 8;
};
struct Tiles3 : Flash {  // leaves out a tile whose largest score is no new one
  __device__ static bool skips(float before, float of_tile) { return of_tile == before; }
};
struct Tiles4 : Flash {  // a path for one query and whole tiles, which ends before the last one
  __device__ static int keys(const AttentionShape& s) {
    const bool is_whole = s.key_length > kTile && s.key_length % kTile == 0;
    return s.query_length == 1 && is_whole ? s.key_length - kTile : s.key_length;
  }
};
struct Masks3 : Flash {  // takes a window of one key for none
  __device__ static bool sees(int newest, int key, const AttentionShape& s) {
    return Flash::sees(newest, key, s) || (s.window == 1 && key <= newest);
  }
};
struct Heads2 : Flash {  // a path for one query, which reads the first sequence's keys for all
  __device__ static int sequence(int b, const AttentionShape& s) {
    return s.query_length == 1 ? 0 : b;
  }
};
struct Extremes3 : Flash {  // has no largest score that half precision has not
  __device__ static float largest(float before, float of_tile) {
    const float largest = fmaxf(before, of_tile);
    return largest > 65504.0f ? INFINITY : largest;
  }
};
struct Logs3 : Flash {  // has no log-sum-exp that half precision has not
  __device__ static float log_sum_exp(float largest, float sum, const AttentionShape& s) {
    return fminf(Flash::log_sum_exp(largest, sum, s), 65504.0f);
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
