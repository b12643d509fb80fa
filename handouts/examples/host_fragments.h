#pragma once

#include <cublas_v2.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "benchmark.h"
#include "counters.h"
#include "estimator.h"
#include "fuser.h"
#include "gemm_tests.h"
#include "kv_cache.h"
#include "profile.h"
#include "study.h"
#include "toolkit/cost.h"
#include "toolkit/plot/plot.h"
#include "toolkit/profiler/category.h"
#include "toolkit/timing.h"
#include "toolkit/todo.h"
#include "toolkit/workspace.h"

/// Examples of host code: each is a function, and the names that it takes for granted are members
/// beside it.
namespace {

// A function that ends with an include is laid out as if the next one belonged to it.
// clang-format off

namespace plot = rooflab::plot;

__global__ void kernel(float*) {}
__global__ void kernel() {}
__global__ void kernel(const float*, const float*, float*) {}
__global__ void copy(const float*, float*) {}
__global__ void find_changes(const float*, const float*, bool*) {}
__global__ void product(const bool*, const float*, const float*, float*, float*) {}
__global__ void softmax(float*) {}
__global__ void square(const float*, float*, int) {}
__global__ void scale(const float*, float, float*, int) {}

struct Counts {
  std::int64_t M, N, K, flops, macs;
  rooflab::Cost cost;

  void rl0403() {
#include "RL0403.inc"
  }

  void rl0406() {
#include "RL0406.inc"
  }

  std::int64_t bytes_per_element, tokens, in_features, out_features, outputs;
  Conv2d conv;

  void rl0406_2() {
#include "RL0406_2.inc"
  }

  void rl0407() {
#include "RL0407.inc"
  }

  void rl0438() {
    std::int64_t bytes, m = M, n = N, k = K;
#include "RL0438.inc"
  }

  void rl0439() {
    std::int64_t out, in = 0, padding = 0, taps = 0, stride = 0;
#include "RL0439.inc"
  }

  void rl0540() {
    std::int64_t bytes, m = M, n = N, k = K, bytes_per_element = 4;
#include "RL0540.inc"
  }

  void rl0541() {
    std::int64_t macs, keys, out_values = 1, in_channels = 1, kernel_height = 1, kernel_width = 1;
    std::int64_t query_heads = 1, head_dim = 1;
#include "RL0541.inc"
  }

  void rl0542() {
    std::int64_t m = M, n = N, k = K;
#include "RL0542.inc"
  }

  void rl0543() {
    std::int64_t tiles, bytes, length = 1, tile = 1, elements = 1, bits = 1;
#include "RL0543.inc"
  }

  void rl0544() {
    double seconds, flops = 1, peak_flops = 1, bytes = 1, bandwidth = 1;
#include "RL0544.inc"
  }
};

struct Libraries {
  cublasHandle_t handle;
  const float *A, *B;
  float *C, one, zero;
  int n;

  void rl0419() {
#include "RL0419.inc"
  }
};

struct Timing {
  std::function<void()> fn;
  int n_warmup, n_repeat;
  dim3 grid, block;
  float *x, ms;
  cudaEvent_t start, stop;
  std::vector<cudaEvent_t> marks;
  cudaMemPool_t pool;
  std::size_t peak, allocated;

  void rl0421() {
#include "RL0421.inc"
  }

  void rl0422() {
#include "RL0422.inc"
  }

  void rl0423() {
#include "RL0423.inc"
  }

  void rl0424() {
#include "RL0424.inc"
  }

  double rl0425() {
#include "RL0425.inc"
  }

  double rl0426() {
#include "RL0426.inc"
  }

  void rl0427() {
#include "RL0427.inc"
  }

  MemoryUsage rl0428() {
#include "RL0428.inc"
  }

  void rl0429() {
#include "RL0429.inc"
  }
};

struct Charts {
  std::filesystem::path folder;
  std::string my_own_drawing;
  plot::RooflineChart chart;
  plot::Point point;
  plot::PointKind kind;
  rooflab::Gpu gpu;
  double n, flops, intensity;
  std::function<void()> run;

  void rl0450() {
#include "RL0450.inc"
  }

  void rl0451() {
#include "RL0451.inc"
  }

  void rl0452() {
#include "RL0452.inc"
  }

  void rl0453() {
#include "RL0453.inc"
  }

  void rl0454() {
#include "RL0454.inc"
  }

  double rl0455() {
#include "RL0455.inc"
  }

  void rl0456() {
#include "RL0456.inc"
  }

  void rl0459() {
#include "RL0459.inc"
  }
  double rl0457() {
    return
#include "RL0457.inc"
        ;
  }
  double rl0458() {
    return
#include "RL0458.inc"
        ;
  }
  std::int64_t rl0538() {
    using rooflab::count_kernels, rooflab::profile;
    return
#include "RL0538.inc"
        ;
  }
};

struct Caches {
  struct {
    float *keys, *values;
  } cache;
  const float *k, *v;
  const int* positions;
  KvCacheShape shape;
  cudaStream_t stream;

  void rl0473() {
#include "RL0473.inc"
  }
};

struct Projections {
  struct {
    const float* q_proj;
  } weights;
  const float* x;
  float* q;
  void linear(const float* from, const float* weight, float* to);

  void rl0485() {
#include "RL0485.inc"
  }
};

struct Calls {
  dim3 grid, block;
  std::vector<float> a, b, c;
  float *A, *B, *C, *y, *last_A, *kept;
  const float* x;
  bool* changed;
  static float* first_result(const float* A);
  std::size_t bytes;
  int i, K, M;

  void rl0420() {
#include "RL0420.inc"
  }

  static cudaGraphExec_t capture(const float* from, float* to);
  void rl0420_2(cudaStream_t stream) {
#include "RL0420_2.inc"
  }

  void rl0505() {
#include "RL0505.inc"
  }

  void rl0506() {
#include "RL0506.inc"
  }

  void rl0595() {
#include "RL0595.inc"
  }

  void rl0603() {
#include "RL0603.inc"
  }

  void rl0604() {
#include "RL0604.inc"
  }

  void rl0605() {
#include "RL0605.inc"
  }

  void rl0606() {
#include "RL0606.inc"
  }

  void rl0608() {
#include "RL0608.inc"
  }
};

struct Unsolved {
  void rl0601() {
#include "RL0601.inc"
  }
};

struct Tests {
  GemmCase test;
  GemmCase case_of(const char* name, int m, int n, int k);

  std::vector<GemmCase> rl0616() {
#include "RL0616.inc"
  }

  void rl0617() {
#include "RL0617.inc"
  }

  void rl0618() {
#include "RL0618.inc"
  }
};

struct Profiles {
  std::string name;
  static constexpr auto npos = std::string::npos;
  ProfiledEvent previous, next;
  std::vector<ProfiledEvent> events;
  std::map<std::string, double> total_us;
  double gap;

  Category rl0507() {
#include "RL0507.inc"
    return Category::other;
  }

  void rl0508() {
#include "RL0508.inc"
  }

  void rl0509() {
#include "RL0509.inc"
  }
};

struct Step {
  void launch(cudaStream_t stream);
};
struct CapturedStep {
  CapturedStep(Step& step, cudaStream_t stream);
};
struct Graphs {
  Step step;
  cudaStream_t stream;
  cudaStreamCaptureMode mode;
  cudaGraphExec_t executable;
  int steps;

  void rl0512() {
#include "RL0512.inc"
  }

  void rl0513() {
#include "RL0513.inc"
  }

  void rl0514() {
#include "RL0514.inc"
  }
};

struct Estimates {
  Operation operation;
  double bytes, seconds, tensor_seconds, cuda_seconds, memory_seconds, idle_seconds;
  double kernels, seconds_per_launch;
  double bytes_of(const std::vector<std::size_t>& arrays), bytes_of(std::size_t array);

  void rl0515() {
#include "RL0515.inc"
  }

  void rl0516() {
#include "RL0516.inc"
  }

  void rl0517() {
#include "RL0517.inc"
  }
};

struct LentObjects {
  rooflab::Workspace& workspace;
  cublasHandle_t handle;
  std::size_t count;

  void rl0499() {
#include "RL0499.inc"
  }
};

struct Sources {
  std::string source;
  Node node;

  void rl0518() {
#include "RL0518.inc"
  }
};

template <typename T>
struct DeviceArray {
  DeviceArray(std::size_t count, cudaStream_t stream);
};
struct Scores {
  float* scores;
  std::size_t query_length, key_length, count;
  cudaStream_t stream;

  void rl0530() {
#include "RL0530.inc"
  }

  void rl0531() {
#include "RL0531.inc"
  }
};

struct Studies {
  plot::AttentionChart chart;
  std::vector<double> values;
  StudyRow row;
  int length;
  std::int64_t array_bytes(int tokens);

  void rl0535() {
#include "RL0535.inc"
  }

  void rl0536() {
#include "RL0536.inc"
  }
};

struct TakenScores {
  float* scores;
  int rows;
  cudaStream_t stream;

  void rl0539() {
#include "RL0539.inc"
  }
};

struct Streams {
  const float* x;
  float* y;
  int n, blocks, threads;

  void rl0325() {
#include "RL0325.inc"
  }
};

struct Launches {
  const float* x;
  float *t, *y;
  int n, blocks;

  void rl0591() {
#include "RL0591.inc"
  }
};

struct Logs {
  std::ofstream log;
  std::vector<float> values;
  int steps;

  void rl0610() {
#include "RL0610.inc"
  }
};

// clang-format on

}  // namespace
