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
struct Visible2 : Attention {  // forgets a key too early where the ring is as long as the window
  __device__ static int first(int position, int count, const AttentionShape& s) {
    const int first = Attention::first(position, count, s);
    return s.capacity == s.window ? min(first + 1, position) : first;
  }
};

struct Heads1 : Attention {  // deals key heads out in turn
  __device__ static int key_head(int head, const AttentionShape& s) {
    return head % s.key_value_heads;
  }
};
struct Heads2 : Attention {  // a path for one query, which reads the first sequence's cache for all
  __device__ static int sequence(int b, const AttentionShape& s) {
    return s.query_length == 1 ? 0 : b;
  }
};

struct Scores1 : Attention {  // subtracts nothing where a query sees a single key
  __device__ static float shift(float largest, int keys) { return keys == 1 ? 0.0f : largest; }
};
struct Scores2 : Attention {  // scales by what most models have
  __device__ static float scale(const AttentionShape& s) {
    return rsqrtf(static_cast<float>(s.head_dim));
  }
};

struct Cache1 : Attention {  // goes once around the ring, and no further
  __device__ static int slot(int position, int /*count*/, const AttentionShape& s) {
    return position < s.capacity ? position : min(position - s.capacity, s.capacity - 1);
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
