#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#include <vector>

#include "../runtime/cuda_12_8.h"

/// What the programs of this folder share. Each holds a family of planted faults; every fault has a
/// twin, which differs by the smallest change that makes it right: `wrong` is true or false. What
/// simgpu must say of a fault stands in a comment at the line that it must name; README.md tells
/// how to write one.

struct Fault {
  const char* name;
  void (*run)(bool wrong);
};

/// Device memory that holds zeros. What a fault allocates, the reset behind it frees.
template <typename T>
T* zeros(std::size_t count) {
  void* memory = nullptr;
  cudaMalloc(&memory, count * sizeof(T));
  cudaMemset(memory, 0, count * sizeof(T));
  return static_cast<T*>(memory);
}

/// Device memory that nothing has been written to.
template <typename T>
T* unwritten(std::size_t count) {
  void* memory = nullptr;
  cudaMalloc(&memory, count * sizeof(T));
  return static_cast<T*>(memory);
}

inline void run(const Fault& fault, bool wrong) {
  fault.run(wrong);
  cudaDeviceSynchronize();
  cudaGetLastError();
}

/// `program` runs all faults, `program twins` all twins, `program NAME` and `program NAME twin` one
/// of them.
inline int run_faults(const std::vector<Fault>& faults, int count, char** arguments) {
  const char* wanted = count > 1 ? arguments[1] : "";
  const bool twins = std::strcmp(wanted, "twins") == 0 || count > 2;
  for (const Fault& fault : faults) {
    if (count > 1 && std::strcmp(wanted, "twins") != 0 && std::strcmp(wanted, fault.name) != 0) {
      continue;
    }
    run(fault, !twins);
    cudaDeviceReset();
  }
  return 0;
}
