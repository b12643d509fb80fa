#include <cassert>
#include <cstring>

#include "check.h"

__global__ void store_at(int* data, long long index) { data[index] = 1; }
__global__ void insist(int value) { assert(value == 3); }
__global__ void give_up() { __trap(); }
__global__ void store_misaligned(char* data) { *reinterpret_cast<int*>(data + 1) = 1; }

// The launch itself succeeds; the error shows at the next synchronisation, and each call after it
// gives it again. Who asks for the last error gets it once for each call that has failed.
void expect_sticky(cudaError_t expected) {
  CHECK(cudaGetLastError());
  EXPECT_ERROR(cudaDeviceSynchronize(), expected);
  void* more;
  EXPECT_ERROR(cudaMalloc(&more, 4), expected);
  EXPECT_ERROR(cudaGetLastError(), expected);
  CHECK(cudaGetLastError());
  EXPECT_ERROR(cudaDeviceSynchronize(), expected);
  EXPECT_ERROR(cudaPeekAtLastError(), expected);
  EXPECT_ERROR(cudaGetLastError(), expected);
  CHECK(cudaGetLastError());
  std::printf("%s is sticky\n", cudaGetErrorName(expected));
}

int main(int, char** arguments) {
  int* data;
  CHECK(cudaMalloc(&data, 64 * sizeof(int)));
  if (std::strcmp(arguments[1], "bounds") == 0) {
    store_at<<<1, 1>>>(data, 64);
    expect_sticky(cudaErrorIllegalAddress);
  } else if (std::strcmp(arguments[1], "misaligned") == 0) {
    store_misaligned<<<1, 1>>>(reinterpret_cast<char*>(data));
    expect_sticky(cudaErrorMisalignedAddress);
  } else if (std::strcmp(arguments[1], "assert") == 0) {
    insist<<<1, 2>>>(4);
    expect_sticky(cudaErrorAssert);
  } else if (std::strcmp(arguments[1], "trap") == 0) {
    give_up<<<1, 1>>>();
    expect_sticky(cudaErrorLaunchFailure);
  } else if (std::strcmp(arguments[1], "host") == 0) {
    std::printf("%d\n", data[3]);
  } else if (std::strcmp(arguments[1], "double-free") == 0) {
    CHECK(cudaFree(data));
    EXPECT_ERROR(cudaFree(data), cudaErrorInvalidValue);
  } else if (std::strcmp(arguments[1], "unsupported") == 0) {
    cudaIpcMemHandle_t handle;
    EXPECT_ERROR(cudaIpcGetMemHandle(&handle, data), cudaErrorNotSupported);
    cudaMipmappedArray_t array;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float2>();
    EXPECT(format.x == 32 && format.y == 32 && format.z == 0);
    EXPECT_ERROR(cudaMallocMipmappedArray(&array, &format, {4, 4, 0}, 2), cudaErrorNotSupported);
    CHECK(cudaFree(data));
  }
}
