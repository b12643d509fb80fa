#pragma once

#include <optional>

#include "simgpu/device/protocol.h"

/// Who calls the runtime, so that what is wrong with a call has its line. What is read here says
/// nothing about the program: whoever is trusted looks the numbers up in the program's file.
namespace simgpu::runtime {

/// The calls that led here, outside of this library, innermost first.
protocol::Caller current_caller();

/// The same for what may be told of later, and rarely is: to find out takes some microseconds, so a
/// thread that calls thousands of times is asked for the first of them alone. Empty for the others.
protocol::Caller caller_while_cheap();

/// `<<<>>>` takes two calls: its configuration is handed over where the launch stands, the launch
/// itself comes from a function that nvcc has made. While one of these lives, requests of this
/// thread come from the former.
class CallerScope {
 public:
  explicit CallerScope(const protocol::Caller& caller);
  ~CallerScope();
  CallerScope(const CallerScope&) = delete;
  CallerScope& operator=(const CallerScope&) = delete;

 private:
  std::optional<protocol::Caller> outer_;
};

/// The scope's caller, else current_caller() or, of a request that usually has nothing to tell,
/// caller_while_cheap().
protocol::Caller caller_of_request(bool is_told);

}  // namespace simgpu::runtime
