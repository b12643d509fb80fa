#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#include "cuda13_forms.h"

/// Ends the program when a call fails; for calls that must succeed.
#define CHECK(call)                                                                            \
  do {                                                                                         \
    const cudaError_t status = (call);                                                         \
    if (status != cudaSuccess) {                                                               \
      std::printf("%s:%d: %s gave %s\n", __FILE__, __LINE__, #call, cudaGetErrorName(status)); \
      std::exit(1);                                                                            \
    }                                                                                          \
  } while (false)

/// Ends the program when a condition does not hold.
#define EXPECT(condition)                                                       \
  do {                                                                          \
    if (!(condition)) {                                                         \
      std::printf("%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                             \
    }                                                                           \
  } while (false)

/// Ends the program unless the call gives exactly this error.
#define EXPECT_ERROR(call, expected)                                        \
  do {                                                                      \
    const cudaError_t status = (call);                                      \
    if (status != (expected)) {                                             \
      std::printf("%s:%d: %s gave %s, not %s\n", __FILE__, __LINE__, #call, \
                  cudaGetErrorName(status), cudaGetErrorName(expected));    \
      std::exit(1);                                                         \
    }                                                                       \
  } while (false)
