#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "grader/contract/problem.h"

namespace rooflab {

/// What adapters keep from call to call, by name.
using KeptObjects = std::map<std::string, std::shared_ptr<void>>;

/// One call as an adapter sees it, inside the guest: parameters and device pointers by name, and a
/// place for results. An adapter (labs/<part>/guest/<entry>.cpp) does nothing but pass these to the
/// student's function.
class GuestCall {
 public:
  /// `kept` outlives the call. @param stream a cudaStream_t
  GuestCall(Values parameters, std::map<std::string, void*> tensors, KeptObjects& kept,
            void* stream = nullptr)
      : parameters_(std::move(parameters)),
        tensors_(std::move(tensors)),
        kept_(kept),
        stream_(stream) {}

  std::int64_t integer(const std::string& name) const {
    return std::get<std::int64_t>(parameters_.at(name));
  }
  double real(const std::string& name) const { return std::get<double>(parameters_.at(name)); }
  const std::string& text(const std::string& name) const {
    return std::get<std::string>(parameters_.at(name));
  }
  /// Device pointer of a tensor.
  template <typename T>
  T* tensor(const std::string& name) const {
    return static_cast<T*>(tensors_.at(name));
  }
  /// The stream of a task that says `stream = true`, a cudaStream_t. It does not wait for the
  /// default stream, and the tensors may be on their way on it: only work that is ordered with it
  /// may touch them. A null pointer in any other task.
  void* stream() const { return stream_; }
  /// Something that a call needs beside its tensors, such as a library's handle: made from
  /// `arguments` by the first call that asks for this name. Measured calls keep it for those after
  /// them, so that at most the first pays for it; behind any other call it ends.
  template <typename T, typename... Arguments>
  T& kept(const std::string& name, const Arguments&... arguments) {
    std::shared_ptr<void>& object = kept_[name];
    if (object == nullptr) object = std::make_shared<T>(arguments...);
    return *static_cast<T*>(object.get());
  }
  void result(const std::string& name, Value value) { results_[name] = std::move(value); }
  const Values& results() const { return results_; }

 private:
  Values parameters_;
  std::map<std::string, void*> tensors_;
  KeptObjects& kept_;
  void* stream_ = nullptr;
  Values results_;
};

}  // namespace rooflab

/// Defines the function that the guest looks up for `entry = "name"` in part.toml.
#define ROOFLAB_ENTRY(name) \
  extern "C" [[gnu::visibility("default")]] void rooflab_entry_##name(::rooflab::GuestCall& call)
