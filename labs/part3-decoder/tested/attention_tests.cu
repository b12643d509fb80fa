#include "attention.cuh"

// Names say a group and a number only: a student's copy has them.
namespace tested {

struct Right2 : Attention {  // the newest key first
  __device__ static int seen(int i, int /*first*/, int last) { return last - i; }
};
struct Right3 : Attention {  // weights that add up to 1 before they meet the values
  static constexpr bool kDividesFirst = true;
};

struct Visible1 : Attention {  // sees what comes after, too
  __device__ static int last(int /*position*/, int count) { return count - 1; }
};
struct Visible2 : Attention {  // forgets a key too early
  __device__ static int first(int position, const AttentionShape& s) {
    return s.window > 1 ? max(0, position - s.window + 2) : Attention::first(position, s);
  }
};

struct Heads1 : Attention {  // deals key heads out in turn
  __device__ static int key_head(int head, const AttentionShape& s) {
    return head % s.key_value_heads;
  }
};
struct Heads2 : Attention {  // reads the first sequence's cache for all
  __device__ static int sequence(int /*b*/) { return 0; }
};

struct Scores1 : Attention {  // subtracts nothing
  __device__ static float shift(float /*largest*/) { return 0.0f; }
};
struct Scores2 : Attention {  // scales by what most models have
  __device__ static float scale(const AttentionShape& s) {
    return rsqrtf(static_cast<float>(s.head_dim));
  }
};

struct Cache1 : Attention {  // goes on behind the ring's end in the last slot
  __device__ static int slot(int position, const AttentionShape& s) {
    return min(position, s.capacity - 1);
  }
};
struct Cache2 : Attention {  // adds up whole groups of 8 elements
  __device__ static int dims(const AttentionShape& s) { return s.head_dim / 8 * 8; }
};

}  // namespace tested

ROOFLAB_ENTRY(right_1) { tested::attention<tested::Attention>(call); }
ROOFLAB_ENTRY(right_2) { tested::attention<tested::Right2>(call); }
ROOFLAB_ENTRY(right_3) { tested::attention<tested::Right3>(call); }
ROOFLAB_ENTRY(visible_1) { tested::attention<tested::Visible1>(call); }
ROOFLAB_ENTRY(visible_2) { tested::attention<tested::Visible2>(call); }
ROOFLAB_ENTRY(heads_1) { tested::attention<tested::Heads1>(call); }
ROOFLAB_ENTRY(heads_2) { tested::attention<tested::Heads2>(call); }
ROOFLAB_ENTRY(scores_1) { tested::attention<tested::Scores1>(call); }
ROOFLAB_ENTRY(scores_2) { tested::attention<tested::Scores2>(call); }
ROOFLAB_ENTRY(cache_1) { tested::attention<tested::Cache1>(call); }
ROOFLAB_ENTRY(cache_2) { tested::attention<tested::Cache2>(call); }
