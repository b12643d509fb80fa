#include "../attention.cuh"

namespace tested {

struct Right4 : Attention {  // every second key, then the others
  __device__ static int seen(int i, int first, int last) {
    const int even = (last - first) / 2 + 1;
    return first + (i < even ? 2 * i : 2 * (i - even) + 1);
  }
  static constexpr bool kDividesFirst = true;
};

struct Visible3 : Attention {  // takes every query for the newest token
  __device__ static int position(const int* positions, int /*query*/) { return positions[0]; }
};
struct Visible4 : Attention {  // has no window
  __device__ static int first(int /*position*/, const AttentionShape& /*s*/) { return 0; }
};
struct Heads3 : Attention {  // every query head reads the first key head
  __device__ static int key_head(int /*head*/, const AttentionShape& /*s*/) { return 0; }
};
struct Scores3 : Attention {  // takes 0 for the least score that there is
  __device__ static float smallest() { return 0.0f; }
};
struct Cache3 : Attention {  // begins the ring anew at slot 1
  __device__ static int slot(int position, const AttentionShape& s) {
    const int slot = position % s.capacity;
    return position >= s.capacity ? min(slot + 1, s.capacity - 1) : slot;
  }
};

}  // namespace tested

ROOFLAB_ENTRY(right_4) { tested::attention<tested::Right4>(call); }
ROOFLAB_ENTRY(visible_3) { tested::attention<tested::Visible3>(call); }
ROOFLAB_ENTRY(visible_4) { tested::attention<tested::Visible4>(call); }
ROOFLAB_ENTRY(heads_3) { tested::attention<tested::Heads3>(call); }
ROOFLAB_ENTRY(scores_3) { tested::attention<tested::Scores3>(call); }
ROOFLAB_ENTRY(cache_3) { tested::attention<tested::Cache3>(call); }
