#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "check.h"

__constant__ float weights[4] = {1, 2, 3, 4};
__device__ int counter = 7;
__device__ float sums[4];

__global__ void weigh(const float* data) {
  sums[threadIdx.x] = data[threadIdx.x] * weights[threadIdx.x] + static_cast<float>(counter);
}

void copy_between_all_kinds_of_memory() {
  const int n = 3'000'000;  // several chunks of the connection
  std::vector<std::uint8_t> out(n), back(n);
  for (int i = 0; i < n; ++i) out[i] = static_cast<std::uint8_t>(i * 31 + i / 257);
  std::uint8_t *first, *second, *pinned;
  CHECK(cudaMalloc(&first, n));
  CHECK(cudaMalloc(&second, n));
  CHECK(cudaMallocHost(&pinned, n));
  CHECK(cudaMemcpy(first, out.data(), n, cudaMemcpyDefault));
  CHECK(cudaMemcpy(second, first, n, cudaMemcpyDeviceToDevice));
  CHECK(cudaMemcpyAsync(pinned, second, n, cudaMemcpyDeviceToHost, nullptr));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(back.data(), pinned, n, cudaMemcpyHostToHost));
  EXPECT(back == out);
  CHECK(cudaMemset(first + 10, 0xAB, 100));
  CHECK(cudaMemcpy(back.data(), first, n, cudaMemcpyDeviceToHost));
  std::memset(out.data() + 10, 0xAB, 100);
  EXPECT(back == out);
  EXPECT_ERROR(cudaMemcpy(first, out.data(), n, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaMemcpy(first, out.data(), n, static_cast<cudaMemcpyKind>(9)),
               cudaErrorInvalidMemcpyDirection);
  CHECK(cudaFreeHost(pinned));
  CHECK(cudaFree(first));
  CHECK(cudaFree(second));
  CHECK(cudaFree(nullptr));
}

// The program goes on: the device is still there.
void refuse_host_pointers_that_are_none() {
  const size_t page = 4096;
  auto* pages = static_cast<std::uint8_t*>(
      mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  EXPECT(munmap(pages + page, page) == 0);
  std::memset(pages, 5, page);
  std::uint8_t* device;
  CHECK(cudaMalloc(&device, 2 * page));
  CHECK(cudaMemcpy(device, pages, page, cudaMemcpyHostToDevice));
  EXPECT_ERROR(cudaMemcpy(device, pages, page + 1, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaMemcpy(reinterpret_cast<void*>(8), device, page, cudaMemcpyDeviceToHost),
               cudaErrorInvalidValue);
  // Rows of 64 bytes whose last ends with the page, 1000 apart.
  CHECK(cudaMemcpy2D(device, 64, pages + page - 3064, 1000, 64, 4, cudaMemcpyHostToDevice));
  std::uint8_t back = 0;
  CHECK(cudaMemcpy(&back, device + 255, 1, cudaMemcpyDeviceToHost));
  EXPECT(back == 5);
  CHECK(cudaFree(device));
  munmap(pages, page);
}

void copy_rectangles() {
  const size_t width = 13, height = 9, host_pitch = 20;
  std::vector<std::uint8_t> host(host_pitch * height), back(host_pitch * height, 1);
  for (size_t i = 0; i < host.size(); ++i) host[i] = static_cast<std::uint8_t>(i + 2);
  void* device;
  size_t pitch = 0;
  CHECK(cudaMallocPitch(&device, &pitch, width, height));
  EXPECT(pitch >= width && pitch % 256 == 0);
  CHECK(
      cudaMemcpy2D(device, pitch, host.data(), host_pitch, width, height, cudaMemcpyHostToDevice));
  CHECK(cudaMemset2D(static_cast<std::uint8_t*>(device) + 1, pitch, 0, 2, height));
  CHECK(
      cudaMemcpy2D(back.data(), host_pitch, device, pitch, width, height, cudaMemcpyDeviceToHost));
  for (size_t row = 0; row < height; ++row) {
    for (size_t column = 0; column < host_pitch; ++column) {
      const size_t at = row * host_pitch + column;
      const std::uint8_t expected = column >= width ? 1 : column == 1 || column == 2 ? 0 : host[at];
      EXPECT(back[at] == expected);
    }
  }
  EXPECT_ERROR(
      cudaMemcpy2D(device, 4, host.data(), host_pitch, width, height, cudaMemcpyHostToDevice),
      cudaErrorInvalidPitchValue);
  CHECK(cudaFree(device));
}

void use_symbols() {
  const float data[4] = {10, 20, 30, 40};
  const float last = 8;
  float* device;
  CHECK(cudaMalloc(&device, sizeof data));
  CHECK(cudaMemcpy(device, data, sizeof data, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpyToSymbol(weights, &last, sizeof last, 3 * sizeof(float)));
  EXPECT_ERROR(cudaMemcpyToSymbol(weights, &last, sizeof last, 0, cudaMemcpyDeviceToHost),
               cudaErrorInvalidMemcpyDirection);
  void* address;
  size_t bytes = 0;
  CHECK(cudaGetSymbolAddress(&address, counter));
  CHECK(cudaGetSymbolSize(&bytes, weights));
  EXPECT(bytes == sizeof weights);
  const int one = 1;
  CHECK(cudaMemcpy(address, &one, sizeof one, cudaMemcpyHostToDevice));
  weigh<<<1, 4>>>(device);
  float result[4];
  CHECK(cudaMemcpyFromSymbol(result, sums, sizeof result));
  EXPECT(result[0] == 11 && result[1] == 41 && result[2] == 91 && result[3] == 321);
  EXPECT_ERROR(cudaMemcpyFromSymbol(result, sums, sizeof result, 4), cudaErrorInvalidValue);
  CHECK(cudaFree(device));
}

/// A block of a box of bytes, and the same in the box that it is copied to.
void copy_boxes() {
  const size_t width = 21, height = 6, depth = 4;
  std::vector<std::uint8_t> host(width * height * depth), back(host.size(), 1);
  for (size_t i = 0; i < host.size(); ++i) host[i] = static_cast<std::uint8_t>(3 * i + 5);
  cudaPitchedPtr box;
  CHECK(cudaMalloc3D(&box, make_cudaExtent(width, height + 2, depth)));  // slices are apart
  EXPECT(box.pitch >= width && box.xsize == width && box.ysize == height + 2);
  CHECK(cudaMemset3D(box, 9, make_cudaExtent(width, height + 2, depth)));
  cudaMemcpy3DParms to = {};
  to.srcPtr = make_cudaPitchedPtr(host.data(), width, width, height);
  to.dstPtr = box;
  to.dstPos = make_cudaPos(0, 1, 0);
  to.extent = make_cudaExtent(width, height, depth);
  to.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&to));
  CHECK(cudaMemset3D(
      make_cudaPitchedPtr(static_cast<char*>(box.ptr) + 2, box.pitch, width, height + 2), 0,
      make_cudaExtent(3, 2, depth)));
  cudaMemcpy3DParms from = {};
  from.srcPtr = box;
  from.srcPos = make_cudaPos(1, 1, 1);
  from.dstPtr = make_cudaPitchedPtr(back.data(), width, width, height);
  from.dstPos = make_cudaPos(1, 0, 1);
  from.extent = make_cudaExtent(width - 2, height, depth - 1);
  from.kind = cudaMemcpyDefault;
  CHECK(cudaMemcpy3DAsync(&from, nullptr));
  CHECK(cudaDeviceSynchronize());
  for (size_t z = 0; z < depth; ++z) {
    for (size_t y = 0; y < height; ++y) {
      for (size_t x = 0; x < width; ++x) {
        const size_t at = (z * height + y) * width + x;
        const bool copied = z > 0 && x > 0 && x < width - 1;
        const bool zeroed = y == 0 && x >= 2 && x < 5;  // row 1 of the box
        EXPECT(back[at] == (!copied ? 1 : zeroed ? 0 : host[at]));
      }
    }
  }
  to.extent.width = box.pitch + 1;
  EXPECT_ERROR(cudaMemcpy3D(&to), cudaErrorInvalidPitchValue);
  EXPECT_ERROR(cudaMemcpy3D(nullptr), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaMalloc3D(&box, make_cudaExtent(SIZE_MAX, 2, 2)), cudaErrorInvalidValue);
  CHECK(cudaFree(to.dstPtr.ptr));
}

/// There is one device, and copies between it and itself.
void copy_between_peers_and_in_batches() {
  std::uint8_t *first, *second, back[64];
  CHECK(cudaMalloc(&first, 64));
  CHECK(cudaMalloc(&second, 64));
  CHECK(cudaMemset(first, 5, 64));
  CHECK(cudaMemset(second, 6, 64));
  CHECK(cudaMemcpyPeer(second, 0, first, 0, 32));
  CHECK(cudaMemcpy(back, second, 64, cudaMemcpyDeviceToHost));
  EXPECT(back[31] == 5 && back[32] == 6);
  EXPECT_ERROR(cudaMemcpyPeer(second, 1, first, 0, 32), cudaErrorInvalidDevice);
#if CUDART_VERSION >= 13000
  void* destinations[] = {first, back};
  const void* sources[] = {second + 32, first};
  size_t sizes[] = {16, 16}, index = 0;
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  cudaMemcpyAttributes attributes = {};
  attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  CHECK(cudaMemcpyBatchAsync(destinations, sources, sizes, 2, &attributes, &index, 1, stream));
  CHECK(cudaStreamSynchronize(stream));
  EXPECT(back[0] == 6 && back[15] == 6);
  EXPECT_ERROR(
      cudaMemcpyBatchAsync(destinations, sources, sizes, 0, &attributes, &index, 1, stream),
      cudaErrorInvalidValue);
  CHECK(cudaStreamDestroy(stream));
#endif
  CHECK(cudaFree(first));
  CHECK(cudaFree(second));
}

int main() {
  copy_between_all_kinds_of_memory();
  refuse_host_pointers_that_are_none();
  copy_rectangles();
  copy_boxes();
  copy_between_peers_and_in_batches();
  use_symbols();
  std::printf("copies are right\n");
}
