#pragma once

#include <cuda_runtime_api.h>

#include <optional>
#include <vector>

#include "simgpu/runtime/graph.h"

/// Stream capture: what a program issues to a stream becomes a graph. Rules as in "CUDA C++
/// Programming Guide", "Creating a Graph Using Stream Capture": what is forbidden invalidates the
/// capture.
namespace simgpu::runtime {

/// Before work goes to the device. @returns nothing if no capture takes or forbids it, so that it
/// is to be done now; else the call's cudaError_t, success when `work` has become a node
std::optional<int> capture(cudaStream_t stream, Work work);

/// Before a call that no capture can take but that concerns this stream alone: waiting for it,
/// asking for its state. @returns a cudaError_t
int permit_stream(cudaStream_t stream);
/// Before a stream is destroyed, which only the one where a capture began must not be.
int permit_destruction(cudaStream_t stream);
/// The same for a call that concerns all of the device.
int permit_device();
/// Before a call that might not be safe during a capture, cudaMalloc for one: whether this thread
/// may make it, by its mode and those of the captures.
int permit_unsafe();
/// After a launch on this stream that is wrong in itself: no graph comes of its capture any more.
void spoil_capture(cudaStream_t stream);
/// Before waiting for an event, or asking for it. @returns a cudaError_t
int permit_event(cudaEvent_t event);

/// Events in a capture: where recorded, what a stream that waits joins. @returns as capture()
std::optional<int> capture_record(cudaEvent_t event, cudaStream_t stream);
std::optional<int> capture_wait(cudaStream_t stream, cudaEvent_t event);
void forget_event(cudaEvent_t event);

int begin_capture(cudaStream_t stream, cudaStreamCaptureMode mode);
/// Into a graph that the program has made, behind some of its nodes.
int begin_capture_to(cudaStream_t stream, cudaStreamCaptureMode mode, Graph* graph,
                     std::vector<Node*> dependencies);
int end_capture(cudaStream_t stream, cudaGraph_t* graph);
cudaStreamCaptureMode exchange_capture_mode(cudaStreamCaptureMode mode);

struct CaptureInfo {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long id = 0;
  Graph* graph = nullptr;
  std::vector<Node*>* dependencies = nullptr;  ///< of the stream's next node
};
int capture_info(cudaStream_t stream, CaptureInfo* info);

}  // namespace simgpu::runtime
