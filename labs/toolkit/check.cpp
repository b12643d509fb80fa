#include "toolkit/check.h"

#include <string>

#include "toolkit/cuda_error.h"

namespace rooflab {
namespace {

/// What most often causes `status`, as the next thing to look at.
const char* advice_for(cudaError_t status) {
  switch (status) {
    case cudaErrorInvalidConfiguration:  // of a launch, from older runtimes
      return "the launch <<<grid, block>>>: a block has at most 1024 threads, and no dimension is "
             "0";
    case cudaErrorInvalidValue:
      return "the arguments of this call: a null pointer, a negative size or a wrong copy "
             "direction; of a launch <<<grid, block>>>: a block has at most 1024 threads, no "
             "dimension is 0, and shared memory beyond 48 KB has to be asked for";
    case cudaErrorIllegalAddress:
      return "the indices in the kernels launched before: one of them reads or writes outside an "
             "array";
    case cudaErrorMisalignedAddress:
      return "vector loads in the kernels launched before: a float4 must lie at a multiple of 16 "
             "bytes";
    case cudaErrorLaunchOutOfResources:
      return "registers and shared memory: one block needs more than a multiprocessor has";
    case cudaErrorMemoryAllocation:
      return "the size of this allocation, and memory that was never freed";
    case cudaErrorNotReady:
      return "synchronisation: the work is still running, wait for its event or stream first";
    case cudaErrorNoKernelImageForDevice:
      return "the architecture the file was compiled for: this GPU needs another one";
    case cudaErrorStreamCaptureImplicit:
    case cudaErrorStreamCaptureUnsupported:
    case cudaErrorStreamCaptureInvalidated:
    case cudaErrorStreamCaptureUnjoined:
      return "what runs between the beginning and the end of the capture: launches and copies on "
             "the captured stream are recorded, while the default stream, waiting and allocating "
             "are not allowed";
    case cudaErrorIllegalState:
      return "the order of the calls: a capture has to begin on this stream before it can end";
    default:
      return "this call and the kernels launched before it: an error can show at a later call";
  }
}

}  // namespace

void check_cuda(cudaError_t status, const char* call, const char* file, int line) {
  if (status == cudaSuccess) return;
  const std::string failure = std::string(call) + " failed with " + cudaGetErrorName(status) +
                              " (" + cudaGetErrorString(status) + ")";
  throw CudaError(file, line, failure, advice_for(status));
}

}  // namespace rooflab
