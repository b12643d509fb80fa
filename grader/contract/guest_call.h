#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>

#include "grader/contract/problem.h"

namespace rooflab {

/// One call as an adapter sees it, inside the guest: parameters and device pointers by name, and a
/// place for results. An adapter (labs/<part>/guest/<entry>.cpp) does nothing but pass these to the
/// student's function.
class GuestCall {
 public:
  GuestCall(Values parameters, std::map<std::string, void*> tensors)
      : parameters_(std::move(parameters)), tensors_(std::move(tensors)) {}

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
  void result(const std::string& name, Value value) { results_[name] = std::move(value); }
  const Values& results() const { return results_; }

 private:
  Values parameters_;
  std::map<std::string, void*> tensors_;
  Values results_;
};

}  // namespace rooflab

/// Defines the function that the guest looks up for `entry = "name"` in part.toml.
#define ROOFLAB_ENTRY(name) \
  extern "C" [[gnu::visibility("default")]] void rooflab_entry_##name(::rooflab::GuestCall& call)
