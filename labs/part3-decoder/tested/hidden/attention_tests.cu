#include "../attention.cuh"

namespace tested {

struct Right4 : Attention {  // every second key, then the others
  __device__ static int seen(int i, int first, int last) {
    const int even = (last - first) / 2 + 1;
    return first + (i < even ? 2 * i : 2 * (i - even) + 1);
  }
  static constexpr bool kDividesFirst = true;
};

struct Visible3 : Attention {  // takes a window of one key for none
  __device__ static int first(int position, int count, const AttentionShape& s) {
    return s.window == 1 ? 0 : Attention::first(position, count, s);
  }
};
struct Visible4 : Attention {  // a path for whole texts, which has no window
  __device__ static int first(int position, int count, const AttentionShape& s) {
    return s.query_length == count ? 0 : Attention::first(position, count, s);
  }
};
struct Heads3 : Attention {  // a path for the largest heads, in which all read the first key head
  __device__ static int key_head(int head, const AttentionShape& s) {
    return s.head_dim == kMostDim ? 0 : Attention::key_head(head, s);
  }
};
struct Scores3 : Attention {  // takes 0 for the least score that there is
  __device__ static float smallest() { return 0.0f; }
};
struct Scores4 : Attention {  // has no largest score that half precision has not
  __device__ static float shift(float largest, int /*keys*/) {
    return largest > 65504.0f ? INFINITY : largest;
  }
};
struct Scores5 : Attention {  // takes neighbours of equal scores for one
  __device__ static bool is_left_out(float score, float before) { return score == before; }
};
struct Cache3 : Attention {  // takes a ring that is just full for one that has begun anew
  __device__ static int slot(int position, int count, const AttentionShape& s) {
    return (position + (count == s.capacity ? 1 : 0)) % s.capacity;
  }
};

}  // namespace tested

ROOFLAB_ENTRY(right_4) { tested::attention<tested::Right4>(call); }
ROOFLAB_ENTRY(visible_3) { tested::attention<tested::Visible3>(call); }
ROOFLAB_ENTRY(visible_4) { tested::attention<tested::Visible4>(call); }
ROOFLAB_ENTRY(heads_3) { tested::attention<tested::Heads3>(call); }
ROOFLAB_ENTRY(scores_3) { tested::attention<tested::Scores3>(call); }
ROOFLAB_ENTRY(scores_4) { tested::attention<tested::Scores4>(call); }
ROOFLAB_ENTRY(scores_5) { tested::attention<tested::Scores5>(call); }
ROOFLAB_ENTRY(cache_3) { tested::attention<tested::Cache3>(call); }
