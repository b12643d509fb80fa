#include <array>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

#include "simgpu/runtime/api.h"
#include "simgpu/runtime/library_call.h"

namespace simgpu::runtime {
namespace {

/// Of this thread. It outlives a context that cudaDeviceReset ends.
cudaError_t& last_error() {
  thread_local cudaError_t error = cudaSuccess;
  return error;
}

/// Whether a launch of this thread has failed and the device waits for the program to ask.
bool& unasked_launch() {
  thread_local bool unasked = false;
  return unasked;
}

/// The program asks for the last error.
void note_asked() {
  if (!std::exchange(unasked_launch(), false)) return;
  try {
    Client::instance().ask(GuestOperation::error_asked);
  } catch (...) {  // NOLINT(bugprone-empty-catch): the answer is the error, not this
  }
}

/// After these the context is broken, and every call gives the error again.
bool is_sticky(cudaError_t error) {
  switch (error) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorMisalignedAddress:
    case cudaErrorIllegalInstruction:
    case cudaErrorHardwareStackError:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
      return true;
    default:
      return false;
  }
}

struct ErrorText {
  cudaError_t error;
  const char* name;
  const char* text;
};

#define ROOFLAB_ERROR(name, text) \
  ErrorText { name, #name, text }
constexpr std::array kErrorTexts{
    ROOFLAB_ERROR(cudaSuccess, "no error"),
    ROOFLAB_ERROR(cudaErrorInvalidValue, "invalid argument"),
    ROOFLAB_ERROR(cudaErrorMemoryAllocation, "out of memory"),
    ROOFLAB_ERROR(cudaErrorInitializationError, "initialization error"),
    ROOFLAB_ERROR(cudaErrorInvalidConfiguration, "invalid configuration argument"),
    ROOFLAB_ERROR(cudaErrorInvalidPitchValue, "invalid pitch argument"),
    ROOFLAB_ERROR(cudaErrorInvalidSymbol, "invalid device symbol"),
    ROOFLAB_ERROR(cudaErrorInvalidChannelDescriptor, "invalid channel descriptor"),
    ROOFLAB_ERROR(cudaErrorInvalidFilterSetting, "invalid filter mode setting"),
    ROOFLAB_ERROR(cudaErrorInvalidNormSetting, "invalid norm setting"),
    ROOFLAB_ERROR(cudaErrorInsufficientDriver,
                  "CUDA driver version is insufficient for CUDA runtime version"),
    ROOFLAB_ERROR(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"),
    ROOFLAB_ERROR(cudaErrorDevicesUnavailable, "CUDA-capable device(s) is/are busy or unavailable"),
    ROOFLAB_ERROR(cudaErrorMissingConfiguration, "__global__ function call is not configured"),
    ROOFLAB_ERROR(cudaErrorInvalidDeviceFunction, "invalid device function"),
    ROOFLAB_ERROR(cudaErrorNoDevice, "no CUDA-capable device is detected"),
    ROOFLAB_ERROR(cudaErrorInvalidDevice, "invalid device ordinal"),
    ROOFLAB_ERROR(cudaErrorInvalidKernelImage, "device kernel image is invalid"),
    ROOFLAB_ERROR(cudaErrorNoKernelImageForDevice,
                  "no kernel image is available for execution on the device"),
    ROOFLAB_ERROR(cudaErrorUnsupportedLimit, "limit is not supported on this architecture"),
    ROOFLAB_ERROR(cudaErrorInvalidPtx, "a PTX JIT compilation failed"),
    ROOFLAB_ERROR(cudaErrorFileNotFound, "file not found"),
    ROOFLAB_ERROR(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    ROOFLAB_ERROR(cudaErrorIllegalState, "the operation cannot be performed in the present state"),
    ROOFLAB_ERROR(cudaErrorSymbolNotFound, "named symbol not found"),
    ROOFLAB_ERROR(cudaErrorNotReady, "device not ready"),
    ROOFLAB_ERROR(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
    ROOFLAB_ERROR(cudaErrorLaunchOutOfResources, "too many resources requested for launch"),
    ROOFLAB_ERROR(cudaErrorLaunchTimeout, "the launch timed out and was terminated"),
    ROOFLAB_ERROR(cudaErrorAssert, "device-side assert triggered"),
    ROOFLAB_ERROR(cudaErrorHostMemoryAlreadyRegistered,
                  "part or all of the requested memory range is already mapped"),
    ROOFLAB_ERROR(cudaErrorHostMemoryNotRegistered,
                  "pointer does not correspond to a registered memory region"),
    ROOFLAB_ERROR(cudaErrorIllegalInstruction, "an illegal instruction was encountered"),
    ROOFLAB_ERROR(cudaErrorHardwareStackError, "hardware stack error"),
    ROOFLAB_ERROR(cudaErrorMisalignedAddress, "misaligned address"),
    ROOFLAB_ERROR(cudaErrorInvalidPc, "invalid program counter"),
    ROOFLAB_ERROR(cudaErrorLaunchFailure, "unspecified launch failure"),
    ROOFLAB_ERROR(cudaErrorCooperativeLaunchTooLarge, "too many blocks in cooperative launch"),
    ROOFLAB_ERROR(cudaErrorPeerAccessNotEnabled, "peer access has not been enabled"),
    ROOFLAB_ERROR(cudaErrorNotPermitted, "operation not permitted"),
    ROOFLAB_ERROR(cudaErrorNotSupported, "operation not supported"),
    ROOFLAB_ERROR(cudaErrorStreamCaptureUnsupported,
                  "operation not permitted when stream is capturing"),
    ROOFLAB_ERROR(cudaErrorStreamCaptureInvalidated,
                  "operation failed due to a previous error during capture"),
    ROOFLAB_ERROR(cudaErrorStreamCaptureMerge,
                  "operation would result in a merge of separate capture sequences"),
    ROOFLAB_ERROR(cudaErrorStreamCaptureUnmatched,
                  "capture was not ended in the same stream as it began"),
    ROOFLAB_ERROR(cudaErrorStreamCaptureUnjoined, "capturing stream has unjoined work"),
    ROOFLAB_ERROR(cudaErrorStreamCaptureIsolation,
                  "dependency created on uncaptured work in another stream"),
    ROOFLAB_ERROR(cudaErrorStreamCaptureImplicit,
                  "operation would make the legacy stream depend on a capturing blocking stream"),
    ROOFLAB_ERROR(cudaErrorCapturedEvent,
                  "operation not permitted on an event last recorded in a capturing stream"),
    ROOFLAB_ERROR(cudaErrorStreamCaptureWrongThread,
                  "attempt to terminate a thread-local capture sequence from another thread"),
    ROOFLAB_ERROR(cudaErrorGraphExecUpdateFailure,
                  "the graph update was not performed because it included changes which violated "
                  "constraints specific to instantiated graph update"),
    ROOFLAB_ERROR(cudaErrorUnknown, "unknown error"),
};
#undef ROOFLAB_ERROR

const ErrorText* find_text(cudaError_t error) {
  for (const ErrorText& known : kErrorTexts) {
    if (known.error == error) return &known;
  }
  return nullptr;
}

}  // namespace

int& HostFunctionScope::depth() {
  thread_local int depth = 0;
  return depth;
}

cudaError_t record(cudaError_t error) {
  if (error != cudaSuccess && error != cudaErrorNotReady) last_error() = error;
  return error;
}

cudaError_t hide_from_caller(cudaError_t error) {
  if (error == cudaSuccess || is_sticky(error)) return error;
  unasked_launch() = true;
  try {
    Client::instance().ask(GuestOperation::launch_unasked, static_cast<std::uint32_t>(error));
  } catch (...) {  // NOLINT(bugprone-empty-catch): the finding is lost, the error is not
  }
  return error;
}

cudaError_t refuse(const char* function, const char* what) {
  std::fprintf(stderr, "simgpu: %s is not implemented%s%s\n", function, what == nullptr ? "" : ": ",
               what == nullptr ? "" : what);
  simgpu_report_refusal(function, what != nullptr);
  return record(cudaErrorNotSupported);
}

}  // namespace simgpu::runtime

using simgpu::runtime::find_text;
using simgpu::runtime::last_error;
using simgpu::runtime::note_asked;

extern "C" {

cudaError_t cudaGetLastError() {
  note_asked();
  // Also after a sticky one the next call to ask gets cudaSuccess, until another call has failed.
  return std::exchange(last_error(), cudaSuccess);
}

cudaError_t cudaPeekAtLastError() {
  note_asked();
  return last_error();
}

const char* cudaGetErrorName(cudaError_t error) {
  const auto* known = find_text(error);
  return known == nullptr ? "unrecognized error code" : known->name;
}

const char* cudaGetErrorString(cudaError_t error) {
  const auto* known = find_text(error);
  return known == nullptr ? "unrecognized error code" : known->text;
}

/// For the generated functions that stand in for what the simulated GPU lacks.
[[gnu::visibility("hidden")]] int simgpu_refuse(const char* function) {
  return static_cast<int>(simgpu::runtime::refuse(function));
}

}  // extern "C"
