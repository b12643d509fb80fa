#include <thread>

#include "check.h"

// What a stream capture forbids, and the errors that CUDA gives for it.

__global__ void nothing() {}

struct Streams {
  cudaStream_t origin, other, blocking;
  cudaEvent_t event;
  Streams() {
    CHECK(cudaStreamCreateWithFlags(&origin, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    CHECK(cudaStreamCreate(&blocking));
    CHECK(cudaEventCreate(&event));
  }
  ~Streams() {
    CHECK(cudaStreamDestroy(origin));
    CHECK(cudaStreamDestroy(other));
    CHECK(cudaStreamDestroy(blocking));
    CHECK(cudaEventDestroy(event));
  }
};

cudaError_t end(cudaStream_t stream) {
  cudaGraph_t graph = nullptr;
  const cudaError_t error = cudaStreamEndCapture(stream, &graph);
  EXPECT((error == cudaSuccess) == (graph != nullptr));
  if (graph != nullptr) CHECK(cudaGraphDestroy(graph));
  return error;
}

/// The call gives an error, and no graph comes of the capture any more.
template <typename Call>
void forbids(cudaStream_t stream, cudaStreamCaptureMode mode, cudaError_t expected, Call call) {
  CHECK(cudaStreamBeginCapture(stream, mode));
  nothing<<<1, 1, 0, stream>>>();
  EXPECT_ERROR(call(), expected);
  cudaStreamCaptureStatus capturing;
  CHECK(cudaStreamIsCapturing(stream, &capturing));
  EXPECT(capturing == cudaStreamCaptureStatusInvalidated);
  nothing<<<1, 1, 0, stream>>>();
  EXPECT_ERROR(cudaGetLastError(), cudaErrorStreamCaptureInvalidated);
  EXPECT_ERROR(end(stream), cudaErrorStreamCaptureInvalidated);
  CHECK(cudaStreamIsCapturing(stream, &capturing));
  EXPECT(capturing == cudaStreamCaptureStatusNone);
  nothing<<<1, 1, 0, stream>>>();  // the stream works again
  CHECK(cudaStreamSynchronize(stream));
  EXPECT_ERROR(cudaGetLastError(), cudaErrorStreamCaptureInvalidated);
}

template <typename Call>
void allows(cudaStream_t stream, cudaStreamCaptureMode mode, Call call) {
  CHECK(cudaStreamBeginCapture(stream, mode));
  CHECK(call());
  CHECK(end(stream));
}

const auto allocate = [] {
  void* pointer = nullptr;
  const cudaError_t error = cudaMalloc(&pointer, 16);
  if (error == cudaSuccess) CHECK(cudaFree(pointer));
  return error;
};

void beginning_and_ending() {
  Streams s;
  EXPECT_ERROR(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal),
               cudaErrorStreamCaptureUnsupported);
  EXPECT_ERROR(end(s.origin), cudaErrorIllegalState);
  CHECK(cudaStreamBeginCapture(s.origin, cudaStreamCaptureModeGlobal));
  EXPECT_ERROR(cudaStreamBeginCapture(s.origin, cudaStreamCaptureModeGlobal),
               cudaErrorIllegalState);
  CHECK(cudaEventRecord(s.event, s.origin));
  CHECK(cudaStreamWaitEvent(s.other, s.event, 0));
  EXPECT_ERROR(end(s.other), cudaErrorStreamCaptureUnmatched);  // which invalidates it
  std::thread([&] { EXPECT_ERROR(end(s.origin), cudaErrorStreamCaptureInvalidated); }).join();
  EXPECT_ERROR(end(s.origin), cudaErrorIllegalState);
  CHECK(cudaStreamBeginCapture(s.origin, cudaStreamCaptureModeGlobal));
  CHECK(cudaEventRecord(s.event, s.origin));
  CHECK(cudaStreamWaitEvent(s.other, s.event, 0));
  nothing<<<1, 1, 0, s.other>>>();
  EXPECT_ERROR(end(s.origin), cudaErrorStreamCaptureUnjoined);
  CHECK(cudaStreamBeginCapture(s.origin, cudaStreamCaptureModeGlobal));
  std::thread([&] { EXPECT_ERROR(end(s.origin), cudaErrorStreamCaptureWrongThread); }).join();
  EXPECT_ERROR(end(s.origin), cudaErrorIllegalState);  // it has ended all the same
  CHECK(cudaStreamBeginCapture(s.origin, cudaStreamCaptureModeRelaxed));
  std::thread([&] { CHECK(end(s.origin)); }).join();
}

void waiting_and_asking() {
  Streams s;
  const auto global = cudaStreamCaptureModeGlobal;
  forbids(s.origin, global, cudaErrorStreamCaptureUnsupported,
          [&] { return cudaStreamSynchronize(s.origin); });
  forbids(s.origin, global, cudaErrorStreamCaptureUnsupported,
          [&] { return cudaStreamQuery(s.origin); });
  forbids(s.origin, global, cudaErrorStreamCaptureUnsupported,
          [] { return cudaDeviceSynchronize(); });
  forbids(s.origin, global, cudaErrorCapturedEvent, [&] {
    CHECK(cudaEventRecord(s.event, s.origin));
    return cudaEventQuery(s.event);
  });
  CHECK(cudaEventRecord(s.event, s.other));
  forbids(s.origin, global, cudaErrorStreamCaptureUnsupported,
          [&] { return cudaEventSynchronize(s.event); });
  // Of streams that are not captured too.
  forbids(s.origin, global, cudaErrorStreamCaptureUnsupported,
          [&] { return cudaStreamSynchronize(s.other); });
  forbids(s.origin, global, cudaErrorStreamCaptureUnsupported,
          [&] { return cudaStreamQuery(s.other); });
  void* memory = nullptr;
  forbids(s.origin, global, cudaErrorStreamCaptureUnsupported,
          [&] { return cudaMallocAsync(&memory, 16, s.other); });
  CHECK(cudaStreamBeginCapture(s.origin, global));
  EXPECT_ERROR(cudaStreamQuery(s.origin), cudaErrorStreamCaptureUnsupported);
  EXPECT_ERROR(cudaMallocAsync(&memory, 16, s.origin), cudaErrorStreamCaptureInvalidated);
  EXPECT_ERROR(cudaFreeAsync(memory, s.origin), cudaErrorStreamCaptureInvalidated);
  EXPECT_ERROR(end(s.origin), cudaErrorStreamCaptureInvalidated);
  forbids(s.origin, cudaStreamCaptureModeRelaxed, cudaErrorStreamCaptureIsolation,
          [&] { return cudaStreamWaitEvent(s.origin, s.event, 0); });
}

void two_captures_do_not_merge() {
  Streams s;
  CHECK(cudaStreamBeginCapture(s.other, cudaStreamCaptureModeRelaxed));
  CHECK(cudaEventRecord(s.event, s.other));
  forbids(s.origin, cudaStreamCaptureModeRelaxed, cudaErrorStreamCaptureMerge,
          [&] { return cudaStreamWaitEvent(s.origin, s.event, 0); });
  EXPECT_ERROR(end(s.other), cudaErrorStreamCaptureInvalidated);
}

void the_legacy_stream() {
  Streams s;
  const auto launch = [] {
    nothing<<<1, 1>>>();
    return cudaGetLastError();
  };
  forbids(s.blocking, cudaStreamCaptureModeRelaxed, cudaErrorStreamCaptureImplicit, launch);
  forbids(s.blocking, cudaStreamCaptureModeRelaxed, cudaErrorStreamCaptureImplicit,
          [&] { return cudaEventRecord(s.event, nullptr); });
  allows(s.origin, cudaStreamCaptureModeGlobal, launch);
  int value = 0;
  int* on_device;
  CHECK(cudaMalloc(&on_device, sizeof value));
  const auto copy = [&] {
    return cudaMemcpy(on_device, &value, sizeof value, cudaMemcpyHostToDevice);
  };
  forbids(s.blocking, cudaStreamCaptureModeGlobal, cudaErrorStreamCaptureImplicit, copy);
  allows(s.origin, cudaStreamCaptureModeGlobal, copy);
  allows(s.origin, cudaStreamCaptureModeRelaxed, copy);
  CHECK(cudaFree(on_device));
}

void calls_that_might_not_be_safe() {
  Streams s;
  forbids(s.origin, cudaStreamCaptureModeGlobal, cudaErrorStreamCaptureUnsupported, allocate);
  forbids(s.origin, cudaStreamCaptureModeThreadLocal, cudaErrorStreamCaptureUnsupported, allocate);
  allows(s.origin, cudaStreamCaptureModeRelaxed, allocate);
  const auto elsewhere = [] {
    cudaError_t error = cudaSuccess;
    std::thread([&] { error = allocate(); }).join();
    return error;
  };
  forbids(s.origin, cudaStreamCaptureModeGlobal, cudaErrorStreamCaptureUnsupported, elsewhere);
  allows(s.origin, cudaStreamCaptureModeThreadLocal, elsewhere);
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  CHECK(cudaThreadExchangeStreamCaptureMode(&mode));
  EXPECT(mode == cudaStreamCaptureModeGlobal);
  allows(s.origin, cudaStreamCaptureModeGlobal, allocate);
  CHECK(cudaThreadExchangeStreamCaptureMode(&mode));
  EXPECT(mode == cudaStreamCaptureModeRelaxed);
  int* pointer = nullptr;  // allocated outside the graph
  CHECK(cudaMalloc(&pointer, 16));
  allows(s.origin, cudaStreamCaptureModeRelaxed, [&] {
    EXPECT_ERROR(cudaFreeAsync(pointer, s.origin), cudaErrorInvalidValue);
    EXPECT_ERROR(cudaGetLastError(), cudaErrorInvalidValue);
    return cudaSuccess;
  });
  CHECK(cudaFree(pointer));
}

void a_wrong_launch_is_told_at_once_and_ends_the_capture() {
  Streams s;
  CHECK(cudaStreamBeginCapture(s.origin, cudaStreamCaptureModeGlobal));
  nothing<<<1, 2000, 0, s.origin>>>();
  EXPECT_ERROR(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_ERROR(end(s.origin), cudaErrorStreamCaptureInvalidated);
}

/// A stream that joined may go before the capture ends: what it did stays, and must be joined.
void destroying_a_stream_that_joined() {
  for (const bool joins_again : {true, false}) {
    Streams s;
    cudaStream_t guest;
    CHECK(cudaStreamCreateWithFlags(&guest, cudaStreamNonBlocking));
    CHECK(cudaStreamBeginCapture(s.origin, cudaStreamCaptureModeGlobal));
    CHECK(cudaEventRecord(s.event, s.origin));
    CHECK(cudaStreamWaitEvent(guest, s.event));
    nothing<<<1, 1, 0, guest>>>();
    CHECK(cudaEventRecord(s.event, guest));
    if (joins_again) CHECK(cudaStreamWaitEvent(s.origin, s.event));
    CHECK(cudaStreamDestroy(guest));
    const cudaError_t expected = joins_again ? cudaSuccess : cudaErrorStreamCaptureUnjoined;
    EXPECT_ERROR(end(s.origin), expected);
  }
}

int main() {
  destroying_a_stream_that_joined();
  beginning_and_ending();
  waiting_and_asking();
  two_captures_do_not_merge();
  the_legacy_stream();
  calls_that_might_not_be_safe();
  a_wrong_launch_is_told_at_once_and_ends_the_capture();
  std::printf("captures are right\n");
}
