#include "check.h"

// Long enough that the host is always ahead of the GPU.
__global__ void busy(float* data, int rounds) {
  float value = data[threadIdx.x];
  for (int i = 0; i < rounds; ++i) value = value * 1.0001f + 0.5f;
  data[threadIdx.x] = value;
}

float time_of(int launches, float* data, cudaStream_t stream) {
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  CHECK(cudaEventRecord(start, stream));
  for (int i = 0; i < launches; ++i) busy<<<1, 32, 0, stream>>>(data, 20'000);
  CHECK(cudaEventRecord(stop, stream));
  float milliseconds = -1;
  EXPECT_ERROR(cudaEventElapsedTime(&milliseconds, start, stop), cudaErrorNotReady);
  EXPECT_ERROR(cudaEventQuery(stop), cudaErrorNotReady);
  EXPECT_ERROR(cudaStreamQuery(stream), cudaErrorNotReady);
  CHECK(cudaEventSynchronize(stop));
  CHECK(cudaEventQuery(stop));
  CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(stop));
  return milliseconds;
}

/// Two small kernels on two streams, from before both until after both.
float time_of_two_streams(float* data, bool same_stream) {
  cudaStream_t first, second;
  cudaEvent_t start, stop, joined;
  CHECK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  CHECK(cudaEventCreateWithFlags(&joined, cudaEventDisableTiming));
  CHECK(cudaEventRecord(start, first));
  CHECK(cudaStreamWaitEvent(second, start, 0));
  busy<<<1, 32, 0, first>>>(data, 20'000);
  busy<<<1, 32, 0, same_stream ? first : second>>>(data + 32, 20'000);
  CHECK(cudaEventRecord(joined, second));
  CHECK(cudaStreamWaitEvent(first, joined, 0));
  CHECK(cudaEventRecord(stop, first));
  CHECK(cudaEventSynchronize(stop));
  float milliseconds = -1;
  CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
  EXPECT_ERROR(cudaEventElapsedTime(&milliseconds, start, joined), cudaErrorInvalidResourceHandle);
  for (const cudaEvent_t event : {start, stop, joined}) CHECK(cudaEventDestroy(event));
  CHECK(cudaStreamDestroy(first));
  CHECK(cudaStreamDestroy(second));
  EXPECT_ERROR(cudaStreamSynchronize(first), cudaErrorInvalidResourceHandle);
  return milliseconds;
}

int main() {
  float* data;
  CHECK(cudaMalloc(&data, 64 * sizeof(float)));
  CHECK(cudaMemset(data, 0, 64 * sizeof(float)));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  time_of(1, data, nullptr);  // the module is loaded now
  const float one = time_of(1, data, nullptr), ten = time_of(10, data, nullptr);
  const float ten_on_stream = time_of(10, data, stream);
  const float in_turn = time_of_two_streams(data, true);
  const float side_by_side = time_of_two_streams(data, false);
  CHECK(cudaStreamDestroy(stream));
  CHECK(cudaFree(data));
  std::printf("one %.9g\nten %.9g\nten_on_stream %.9g\nin_turn %.9g\nside_by_side %.9g\n", one, ten,
              ten_on_stream, in_turn, side_by_side);
}
