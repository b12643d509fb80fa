#pragma once

#include <cupti.h>

#include <cstdint>

namespace rooflab {

/// The functions of libcupti that the profiler needs. The library is loaded when a profiler
/// is made, so that programs which do not profile run where there is none.
class CuptiLibrary {
 public:
  /// @throws std::runtime_error when it cannot be loaded or is of an older CUDA than this
  /// was compiled with, with what to do
  CuptiLibrary();

  decltype(&cuptiActivityRegisterCallbacks) register_callbacks = nullptr;
  decltype(&cuptiActivityEnable) enable = nullptr;
  decltype(&cuptiActivityDisable) disable = nullptr;
  decltype(&cuptiActivityFlushAll) flush_all = nullptr;
  decltype(&cuptiActivityGetNextRecord) next_record = nullptr;
  decltype(&cuptiActivityGetNumDroppedRecords) dropped_records = nullptr;
  decltype(&cuptiActivityPushExternalCorrelationId) push_external = nullptr;
  decltype(&cuptiActivityPopExternalCorrelationId) pop_external = nullptr;
  decltype(&cuptiGetTimestamp) timestamp = nullptr;
  decltype(&cuptiGetCallbackName) callback_name = nullptr;
  decltype(&cuptiGetResultString) result_string = nullptr;
  decltype(&cuptiGetVersion) version = nullptr;

  /// Counted work of a delivered kernel. Only the simulated GPU's library has it: null on a GPU,
  /// where counting needs a replay of the kernel.
  int (*kernel_counters)(std::uint32_t correlation, std::int64_t grid, double* flops,
                         double* dram_bytes) = nullptr;

  /// Throws unless the result is CUPTI_SUCCESS. @param call its name, for the message
  /// @throws std::runtime_error with CUPTI's own text and what to do
  void check(CUptiResult result, const char* call) const;
};

}  // namespace rooflab
