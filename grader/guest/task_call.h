#pragma once

#include <map>
#include <string>

#include "grader/contract/guest_call.h"
#include "grader/guest/call_protocol.h"
#include "grader/guest/cuda_runtime.h"

namespace rooflab {

/// Runs calls of one task library inside the guest.
class TaskCaller {
 public:
  /// Loads the library at the first call, makes the call, waits for the device, and tells how it
  /// ended. Without an entry it only takes what such a call needs of the device.
  Reply run(const Call& call);

 private:
  using Entry = void(GuestCall&);
  Reply prepare(const Call& call);
  Entry* load(const Call& call);
  void choose(const ChosenVariant& variant);
  void* place_of(const TensorPlace& place);
  std::map<std::string, void*> places_of(const std::map<std::string, TensorPlace>& tensors);
  void* stream_of(const Call& call);

  CudaRuntime cuda_;
  void* library_ = nullptr;
  std::map<std::string, void*> opened_;  ///< by TensorPlace::exported, once
  KeptObjects kept_;
};

}  // namespace rooflab
