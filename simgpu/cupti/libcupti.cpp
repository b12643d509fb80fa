#include <cupti.h>

#include <cstdio>

#include "simgpu/cupti/activity.h"
#include "simgpu/cupti/simgpu_cupti.h"
#include "simgpu/device/protocol.h"
#include "simgpu/runtime/library_call.h"
#include "simgpu/runtime/library_version.h"

/// libcupti for the simulated GPU: the Activity API with CUPTI's types. Functions keep their
/// standard names and meanings (cupti_activity.h).

using simgpu::cupti::Activity;

namespace {

/// Nothing may be thrown through the C interface.
template <typename Body>
CUptiResult api(Body body) noexcept {
  try {
    return body();
  } catch (...) {
    return CUPTI_ERROR_UNKNOWN;
  }
}

struct ResultName {
  CUptiResult result;
  const char* name;
};
constexpr ResultName kResults[] = {
#include "simgpu/cupti/result_names.inc"
};

}  // namespace

extern "C" {

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc requested,
                                           CUpti_BuffersCallbackCompleteFunc completed) {
  return api([&] { return Activity::instance().set_callbacks(requested, completed); });
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  return api([&] { return Activity::instance().enable(kind); });
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  return api([&] { return Activity::instance().disable(kind); });
}

CUptiResult cuptiActivityFlushAll(uint32_t /*flag*/) {
  return api([] { return Activity::instance().flush(); });
}

CUptiResult cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid_bytes,
                                       CUpti_Activity** record) {
  if (buffer == nullptr || record == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  auto* next = buffer;
  if (*record != nullptr) {
    next = reinterpret_cast<uint8_t*>(*record) + simgpu::cupti::record_bytes((*record)->kind);
  }
  const auto used = static_cast<size_t>(next - buffer);
  if (used >= valid_bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  auto* found = reinterpret_cast<CUpti_Activity*>(next);
  if (valid_bytes - used < sizeof found->kind) return CUPTI_ERROR_INVALID_KIND;
  const size_t bytes = simgpu::cupti::record_bytes(found->kind);
  if (bytes == 0 || bytes > valid_bytes - used) return CUPTI_ERROR_INVALID_KIND;
  *record = found;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext /*context*/, uint32_t /*stream*/,
                                              size_t* dropped) {
  if (dropped == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  return api([&] {
    *dropped = Activity::instance().take_dropped();
    return CUPTI_SUCCESS;
  });
}

CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
                                                   uint64_t id) {
  return api([&] { return Activity::instance().push_external(kind, id); });
}

CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
                                                  uint64_t* last) {
  return api([&] { return Activity::instance().pop_external(kind, last); });
}

CUptiResult cuptiGetTimestamp(uint64_t* timestamp) {
  if (timestamp == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  return api([&] {
    size_t answered = 0;
    const int error = simgpu_activity_call(
        static_cast<std::uint32_t>(simgpu::protocol::GuestOperation::activity_clock), nullptr, 0,
        timestamp, sizeof *timestamp, &answered);
    return error == 0 && answered == sizeof *timestamp ? CUPTI_SUCCESS
                                                       : CUPTI_ERROR_NOT_INITIALIZED;
  });
}

CUptiResult cuptiGetVersion(uint32_t* version) {
  if (version == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  constexpr std::uint32_t kOf12 = 28, kOf13 = 130000;  // of CUDA 12.9 and 13.0
  *version = simgpu_cuda_version < 13000 ? kOf12 : kOf13;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t callback,
                                 const char** name) {
  if (name == nullptr || domain != CUPTI_CB_DOMAIN_RUNTIME_API) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  const char* found = simgpu::cupti::callback_name(callback);
  if (found == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *name = found;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
  if (text == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  for (const ResultName& known : kResults) {
    if (known.result != result) continue;
    *text = known.name;
    return CUPTI_SUCCESS;
  }
  return CUPTI_ERROR_INVALID_PARAMETER;
}

/// For the generated functions that stand in for what the simulated GPU lacks.
[[gnu::visibility("hidden")]] int simgpu_refuse(const char* function) {
  std::fprintf(stderr, "simgpu: %s is not implemented\n", function);
  return CUPTI_ERROR_NOT_SUPPORTED;
}

int simgpu_kernel_counters(std::uint32_t correlation, std::int64_t grid, double* flops,
                           double* bytes) {
  return Activity::instance().counters(correlation, grid, flops, bytes) ? 0 : 1;
}

}  // extern "C"
