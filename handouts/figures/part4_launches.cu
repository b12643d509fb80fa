// Runs one workload of Part 4 and prints the microseconds of one iteration:
//
//   gelu eager|fused ELEMENTS     GELU in bf16, by eight kernels or by the solution's one
//   decode eager|graph            a decode step of the eager layer in half precision, at position
//                                 256 of 512, launch by launch or as a graph
//
// Every workload runs kWarmUp + kTimed iterations.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>

#include "fused_gelu.cu"
#include "toolkit/check_cublas.h"
#include "toolkit/eager/decoder.h"
#include "toolkit/eager/gelu.h"
#include "toolkit/timing.h"

namespace {

using namespace rooflab;

constexpr int kWarmUp = 1;
constexpr int kTimed = 3;

// `count` elements of device memory, all bytes the same. Programs end with their memory.
template <typename T>
T* filled(std::size_t count, int byte = 0x3c) {
  T* array = nullptr;
  CUDA_CHECK(cudaMalloc(&array, count * sizeof(T)));
  CUDA_CHECK(cudaMemset(array, byte, count * sizeof(T)));
  return array;
}

void show(const std::function<void()>& work, cudaStream_t stream = nullptr) {
  std::printf("%.6f\n", 1e3 * time_ms(work, kWarmUp, kTimed, stream));
}

void run_gelu(const std::string& form, std::int64_t count) {
  const auto* x = filled<__nv_bfloat16>(count);
  auto* y = filled<__nv_bfloat16>(count);
  const std::size_t bytes = count * sizeof(*y) + 256;
  Workspace workspace(filled<char>(bytes), bytes);
  if (form == "eager") {
    show([&] { eager::gelu(x, y, count, workspace, nullptr); });
  } else {
    show([&] { fused_gelu(x, y, count, nullptr); });
  }
}

// The layer of Gemma 3 270M.
eager::DecoderShape shape() {
  return {.batch = 1,
          .hidden = 640,
          .intermediate = 2048,
          .query_heads = 4,
          .key_value_heads = 1,
          .head_dim = 256,
          .capacity = 512,
          .epsilon = 1e-6f,
          .attention_scale = 1.0f / 16.0f};
}

eager::DecoderWeights<__half> weights(const eager::DecoderShape& s) {
  constexpr int kSmall = 0x11;  // 0x1111 is the half 0.0006
  const auto array = [](std::int64_t count) { return filled<__half>(count, kSmall); };
  const int queries = s.query_heads * s.head_dim;
  const int keys = s.key_value_heads * s.head_dim;
  const int table = s.capacity * s.head_dim;
  return {array(s.hidden),
          array(queries * s.hidden),
          array(keys * s.hidden),
          array(keys * s.hidden),
          array(s.hidden * queries),
          array(s.head_dim),
          array(s.head_dim),
          array(s.hidden),
          array(s.hidden),
          array(s.intermediate * s.hidden),
          array(s.intermediate * s.hidden),
          array(s.hidden * s.intermediate),
          array(s.hidden),
          array(table),
          array(table)};
}

void run_decode(const std::string& form) {
  const eager::DecoderShape s = shape();
  const std::int64_t cache = s.key_value_heads * s.capacity * s.head_dim;
  cublasHandle_t cublas = nullptr;
  CUBLAS_CHECK(cublasCreate(&cublas));
  constexpr std::size_t kBytes = std::size_t{16} << 20;
  Workspace workspace(filled<char>(kBytes), kBytes);
  eager::DecodeStep<__half> step(cublas, s, weights(s),
                                 {filled<__half>(cache), filled<__half>(cache)}, workspace);
  cudaStream_t stream = nullptr;
  CUDA_CHECK(cudaStreamCreate(&stream));
  const int position = s.capacity / 2;
  CUDA_CHECK(cudaMemcpy(step.position(), &position, sizeof(position), cudaMemcpyHostToDevice));
  if (form == "eager") return show([&] { step.launch(stream); }, stream);

  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  step.launch(stream);
  CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
  CUDA_CHECK(cudaGraphInstantiate(&executable, graph, 0));
  show([&] { CUDA_CHECK(cudaGraphLaunch(executable, stream)); }, stream);
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 4 && arguments[1] == std::string("gelu")) {
    run_gelu(arguments[2], std::atoll(arguments[3]));
  } else if (count == 3 && arguments[1] == std::string("decode")) {
    run_decode(arguments[2]);
  } else {
    throw std::invalid_argument("gelu eager|fused ELEMENTS, or decode eager|graph");
  }
}
