#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#include <vector>

/// What the programs of this folder share. Each holds a family of patterns in which threads of a
/// warp or a block go different ways and wait for each other. A pattern is legal CUDA and has a
/// known result; its twin, if it has one, differs by the smallest change that CUDA leaves
/// undefined. README.md tells how to write one.

struct Pattern {
  const char* name;
  int size;  ///< of what it computes, zeros at first
  void (*launch)(int* out, bool wrong);
  int (*expected)(int i);
  bool has_twin = true;
};

inline void run(const Pattern& pattern, bool wrong) {
  std::vector<int> values(static_cast<std::size_t>(pattern.size));
  const std::size_t bytes = values.size() * sizeof(int);
  int* out = nullptr;
  cudaMalloc(reinterpret_cast<void**>(&out), bytes);
  cudaMemset(out, 0, bytes);
  pattern.launch(out, wrong);
  const cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess) {
    std::printf("%s: %s\n", pattern.name, cudaGetErrorString(error));
    cudaGetLastError();
    return;
  }
  cudaMemcpy(values.data(), out, bytes, cudaMemcpyDeviceToHost);
  for (int i = 0; i < pattern.size && !wrong; ++i) {
    if (values[static_cast<std::size_t>(i)] == pattern.expected(i)) continue;
    std::printf("%s: element %d is %d, not %d\n", pattern.name, i,
                values[static_cast<std::size_t>(i)], pattern.expected(i));
    return;
  }
  std::printf("%s: ran\n", pattern.name);
}

/// `program` runs all patterns, `program twins` what is wrong in them; a name behind either runs
/// one.
inline int run_patterns(const std::vector<Pattern>& patterns, int count, char** arguments) {
  const bool wrong = count > 1 && std::strcmp(arguments[1], "twins") == 0;
  const char* wanted = count > (wrong ? 2 : 1) ? arguments[wrong ? 2 : 1] : nullptr;
  for (const Pattern& pattern : patterns) {
    if (wanted != nullptr && std::strcmp(wanted, pattern.name) != 0) continue;
    if (wrong && !pattern.has_twin) continue;
    run(pattern, wrong);
    cudaDeviceReset();
  }
  return 0;
}
