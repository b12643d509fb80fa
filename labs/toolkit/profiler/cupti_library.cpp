#include "labs/toolkit/profiler/cupti_library.h"

#include <dlfcn.h>

#include <stdexcept>
#include <string>

namespace rooflab {
namespace {

constexpr int kCudaMajor = CUDA_VERSION / 1000;
// In CUDA 13 CUPTI's version became CUDA's: 130000. Those of 12 are 18 and on, 12.4's is 22.
constexpr std::uint32_t kOldestVersion = kCudaMajor >= 13 ? 130000 : 22;

std::string file_name() { return "libcupti.so." + std::to_string(kCudaMajor); }

[[noreturn]] void refuse(const std::string& why) {
  throw std::runtime_error(
      "the profiler needs " + file_name() + " of CUDA " + std::to_string(kCudaMajor) + ": " + why +
      ". On a GPU it is part of the CUDA toolkit (extras/CUPTI/lib64) and of the Python package "
      "nvidia-cuda-cupti (nvidia-cuda-cupti-cu12 for CUDA 12): put its folder into "
      "LD_LIBRARY_PATH. Without a GPU start the program "
      "with `simgpu run`.");
}

template <typename Function>
void find(void* library, const char* name, Function** function) {
  *function = reinterpret_cast<Function*>(dlsym(library, name));
  if (*function == nullptr) refuse(std::string("it has no ") + name);
}

const char* advice_for(CUptiResult result) {
  switch (result) {
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
    case CUPTI_ERROR_HARDWARE_BUSY:
      return "; another profiler (nsys, ncu) is attached: run without it";
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
      return "; this machine lets only its administrator profile "
             "(NVreg_RestrictProfilingToAdminUsers)";
    case CUPTI_ERROR_NOT_INITIALIZED:
    case CUPTI_ERROR_UNKNOWN:  // what NVIDIA's library says on a machine without its driver
      return "; is there a GPU and its driver? Without one start the program with `simgpu run`";
    default:
      return "";
  }
}

}  // namespace

CuptiLibrary::CuptiLibrary() {
  // Never closed: CUPTI keeps threads of its own.
  void* library = dlopen(file_name().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) refuse(dlerror());
  find(library, "cuptiActivityRegisterCallbacks", &register_callbacks);
  find(library, "cuptiActivityEnable", &enable);
  find(library, "cuptiActivityDisable", &disable);
  find(library, "cuptiActivityFlushAll", &flush_all);
  find(library, "cuptiActivityGetNextRecord", &next_record);
  find(library, "cuptiActivityGetNumDroppedRecords", &dropped_records);
  find(library, "cuptiActivityPushExternalCorrelationId", &push_external);
  find(library, "cuptiActivityPopExternalCorrelationId", &pop_external);
  find(library, "cuptiGetTimestamp", &timestamp);
  find(library, "cuptiGetCallbackName", &callback_name);
  find(library, "cuptiGetResultString", &result_string);
  find(library, "cuptiGetVersion", &version);
  kernel_counters =
      reinterpret_cast<decltype(kernel_counters)>(dlsym(library, "simgpu_kernel_counters"));
  std::uint32_t number = 0;
  check(version(&number), "cuptiGetVersion");
  if (number < kOldestVersion) refuse("this one has version " + std::to_string(number));
}

void CuptiLibrary::check(CUptiResult result, const char* call) const {
  if (result == CUPTI_SUCCESS) return;
  const char* text = nullptr;
  if (result_string(result, &text) != CUPTI_SUCCESS || text == nullptr) text = "an unknown error";
  throw std::runtime_error("the profiler stopped: " + std::string(call) + " failed with " + text +
                           advice_for(result));
}

}  // namespace rooflab
