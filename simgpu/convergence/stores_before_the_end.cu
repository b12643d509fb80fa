#include "pattern.h"

/// Lanes that store and come to the kernel's end while others exchange values: they have returned
/// early, or have skipped an `if`. nvcc makes the same code of both, and only the source tells.
namespace {

constexpr unsigned kAll = ~0u;

__global__ void store_and_return(int* out, int n) {
  const int i = static_cast<int>(threadIdx.x);
  int value = 3 * i;
  if (i >= n) {
    out[i] = value;
    return;
  }
  value = __shfl_xor_sync(kAll, value, 1);
  out[i] = value;
}
__global__ void skipped_shuffle(int* out, int n) {
  const int i = static_cast<int>(threadIdx.x);
  int value = 3 * i;  // return; "return;" in words only
  // TOLD skipped_shuffle RL0305 divergent-barrier "took another way"
  if (i < n) value = __shfl_xor_sync(kAll, value, 1);
  out[i] = value;
}

#define STORE_AND_RETURN(place, value) \
  do {                                 \
    (place) = (value);                 \
    return;                            \
  } while (false)
__global__ void return_in_a_macro(int* out, int n) {
  const int i = static_cast<int>(threadIdx.x);
  int value = 5 * i;
  if (i >= n) STORE_AND_RETURN(out[i], value);
  value = __shfl_xor_sync(kAll, value, 2);
  out[i] = value;
}
#define EXCHANGE(value, distance) __shfl_xor_sync(kAll, value, distance)
__global__ void exchange_in_a_macro(int* out, int n) {
  const int i = static_cast<int>(threadIdx.x);
  int value = 5 * i;
  if (i < n) {
    // TOLD exchange_in_a_macro RL0305 divergent-barrier "took another way"
    value = EXCHANGE(value, 2);
  }
  out[i] = value;
}

__device__ void store_sums(int* out, int i, int n) {
  int sum = i;
  if (i >= n) {
    out[i] = sum;
    return;
  }
  for (int step = 1; step < 8; step *= 2) sum += __shfl_xor_sync(kAll, sum, step);
  out[i] = sum;
}
__global__ void return_in_a_function(int* out, int n) {
  store_sums(out, static_cast<int>(threadIdx.x), n);
}
__device__ int sum_of_eight(int sum) {
  // TOLD sum_in_a_branch RL0305 divergent-barrier "took another way"
  for (int step = 1; step < 8; step *= 2) sum += __shfl_xor_sync(kAll, sum, step);
  return sum;
}
__global__ void sum_in_a_branch(int* out, int n) {
  const int i = static_cast<int>(threadIdx.x);
  int sum = i;
  if (i < n) sum = sum_of_eight(sum);
  out[i] = sum;
}

__global__ void jump_to_the_end(int* out, int n) {
  const int i = static_cast<int>(threadIdx.x);
  int value = 7 * i;
  if (i >= n) goto end;
  value = __shfl_xor_sync(kAll, value, 4);
end:
  out[i] = value;
}

__global__ void nested_returns(int* out, int n, int m) {
  const int i = static_cast<int>(threadIdx.x);
  int value = 2 * i;
  if (i >= n) {
    if (i >= m) {
      out[i] = value + 1;
      return;
    } else {
      out[i] = value;
      return;
    }
  }
  value = __shfl_xor_sync(kAll, value, 1);
  out[i] = value;
}
__global__ void nested_ifs(int* out, int n, int m) {
  const int i = static_cast<int>(threadIdx.x);
  int value = 2 * i;
  if (i < m) {
    if (i < n) {
      // TOLD nested_ifs RL0305 divergent-barrier "took another way"
      value = __shfl_xor_sync(kAll, value, 1);
    }
  }
  out[i] = value;
}

/// Some return behind the shuffle of one round, and are missing at that of the next one.
__global__ void return_behind_the_shuffle(int* out, const int* rounds) {
  const int i = static_cast<int>(threadIdx.x);
  int sum = 0;
  const int own = rounds[i] / 2;
  for (int r = 0; r < 4; ++r) {
    sum += __shfl_xor_sync(kAll, i, 1) + r;
    if (r == own) {
      out[i] = sum;
      return;
    }
  }
  out[i] = sum;
}
__global__ void break_before_the_shuffle(int* out, const int* rounds) {
  const int i = static_cast<int>(threadIdx.x);
  int sum = 0;
  const int own = rounds[i] / 2;
  for (int r = 0; r < 4; ++r) {
    if (r == own) break;
    // TOLD break_before_the_shuffle RL0305 divergent-barrier "took another way"
    sum += __shfl_xor_sync(kAll, i, 1) + r;
  }
  out[i] = sum;
}

__global__ void return_after_a_break(int* out, int n) {
  const int i = static_cast<int>(threadIdx.x);
  int value = i;
  while (true) {
    if (value > 40) break;
    value += 9;
  }
  if (i >= n) {
    out[i] = value;
    return;
  }
  value = __shfl_xor_sync(kAll, value, 1);
  out[i] = value;
}
/// A return behind the shuffle is none before it.
__global__ void return_too_late(int* out, int n) {
  const int i = static_cast<int>(threadIdx.x);
  int value = i;
  // TOLD return_too_late RL0305 divergent-barrier "took another way"
  if (i < n) value = __shfl_xor_sync(kAll, value, 1);
  out[i] = value;
  if (value < 0) return;
  out[i] = value + 1;
}

__global__ void loads_and_returns(const int* in, int* out, int n) {
  const int i = static_cast<int>(threadIdx.x);
  if (i >= n) {
    out[i] = in[i];
    return;
  }
  out[i] = __shfl_xor_sync(kAll, i, 1);
}
__global__ void loads_in_the_other_branch(const int* in, int* out, int n) {
  const int i = static_cast<int>(threadIdx.x);
  int value = i;
  if (i < n) {
    // TOLD loads_in_the_other_branch RL0305 divergent-barrier "took another way"
    value = __shfl_xor_sync(kAll, i, 1);
  } else {
    value = in[i];
  }
  out[i] = value;
}

__global__ void adds_and_returns(int* out, int n) {
  const int i = static_cast<int>(threadIdx.x);
  int value = i;
  if (i >= n) {
    atomicAdd(out + i, value);
    return;
  }
  value = __shfl_xor_sync(kAll, i, 1);
  atomicAdd(out + i, value);
}

__global__ void syncwarp_before_stores(int* out, int n) {
  const int i = static_cast<int>(threadIdx.x);
  if (i < n) {
    out[i] = 1;
    // TOLD syncwarp_before_stores RL0305 divergent-barrier "took another way"
    __syncwarp();
  }
  out[i + 32] = 2;
}

/// The lane asks for the value of one that is not there.
__global__ void absent_lanes(int* out, int n) {
  const int i = static_cast<int>(threadIdx.x);
  int value = 3 * i;
  // TOLD absent_lanes RL0305 divergent-barrier "took another way"
  if (i < n) value = __shfl_down_sync(kAll, value, 8);
  out[i] = value;
}

int* numbers(int count) {
  std::vector<int> values(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = i;
  int* memory = nullptr;
  cudaMalloc(reinterpret_cast<void**>(&memory), values.size() * sizeof(int));
  cudaMemcpy(memory, values.data(), values.size() * sizeof(int), cudaMemcpyHostToDevice);
  return memory;
}

const std::vector<Pattern> patterns{
    {"store_and_return", 32,
     [](int* out, bool wrong) {
       wrong ? skipped_shuffle<<<1, 32>>>(out, 16) : store_and_return<<<1, 32>>>(out, 16);
     },
     [](int i) { return 3 * (i < 16 ? i ^ 1 : i); }},
    {"return_in_a_macro", 32,
     [](int* out, bool wrong) {
       wrong ? exchange_in_a_macro<<<1, 32>>>(out, 16) : return_in_a_macro<<<1, 32>>>(out, 16);
     },
     [](int i) { return 5 * (i < 16 ? i ^ 2 : i); }},
    {"return_in_a_function", 32,
     [](int* out, bool wrong) {
       wrong ? sum_in_a_branch<<<1, 32>>>(out, 16) : return_in_a_function<<<1, 32>>>(out, 16);
     },
     [](int i) { return i < 16 ? 28 + 64 * (i / 8) : i; }},
    {"jump_to_the_end", 32, [](int* out, bool) { jump_to_the_end<<<1, 32>>>(out, 16); },
     [](int i) { return 7 * (i < 16 ? i ^ 4 : i); }, false},
    {"nested_returns", 32,
     [](int* out, bool wrong) {
       wrong ? nested_ifs<<<1, 32>>>(out, 16, 24) : nested_returns<<<1, 32>>>(out, 16, 24);
     },
     [](int i) { return i < 16 ? 2 * (i ^ 1) : 2 * i + (i >= 24 ? 1 : 0); }},
    {"return_behind_the_shuffle", 32,
     [](int* out, bool wrong) {
       wrong ? break_before_the_shuffle<<<1, 32>>>(out, numbers(32))
             : return_behind_the_shuffle<<<1, 32>>>(out, numbers(32));
     },
     [](int i) {
       const int rounds = i < 8 ? i / 2 + 1 : 4;
       return rounds * (i ^ 1) + rounds * (rounds - 1) / 2;
     }},
    {"return_after_a_break", 32,
     [](int* out, bool wrong) {
       wrong ? return_too_late<<<1, 32>>>(out, 16) : return_after_a_break<<<1, 32>>>(out, 16);
     },
     [](int i) {
       int value = i < 16 ? i ^ 1 : i;
       while (value <= 40) value += 9;
       return value;
     }},
    {"loads_and_returns", 32,
     [](int* out, bool wrong) {
       wrong ? loads_in_the_other_branch<<<1, 32>>>(numbers(32), out, 16)
             : loads_and_returns<<<1, 32>>>(numbers(32), out, 16);
     },
     [](int i) { return i < 16 ? i ^ 1 : i; }},
    {"adds_and_returns", 64,
     [](int* out, bool wrong) {
       wrong ? syncwarp_before_stores<<<1, 32>>>(out, 16) : adds_and_returns<<<1, 32>>>(out, 16);
     },
     [](int i) { return i < 16   ? i ^ 1
                        : i < 32 ? i
                                 : 0; }},
    {"absent_lanes", 32,
     [](int* out, bool wrong) {
       wrong ? absent_lanes<<<1, 32>>>(out, 16) : store_and_return<<<1, 32>>>(out, 16);
     },
     [](int i) { return 3 * (i < 16 ? i ^ 1 : i); }},
};

}  // namespace

int main(int count, char** arguments) { return run_patterns(patterns, count, arguments); }
