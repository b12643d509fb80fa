#pragma once

#include <cerrno>
#include <functional>
#include <limits>
#include <memory>

#include "grader/posix/file_calls.h"

namespace rooflab {

/// Counts how often a call is made.
using CallCount = std::shared_ptr<std::atomic<int>>;

constexpr int kAlways = std::numeric_limits<int>::max();

/// Lets a call fail, `times` times from its `first`, counted from 0. @return its count
template <typename Result, typename... Arguments>
CallCount let_fail(std::function<Result(Arguments...)>& call, int error, int first = 0,
                   int times = kAlways) {
  auto count = std::make_shared<std::atomic<int>>(0);
  call = [right = call, error, first, times, count](Arguments... arguments) -> Result {
    const int at = (*count)++;
    if (at < first || at - first >= times) return right(arguments...);
    errno = error;
    return -1;
  };
  return count;
}

/// Lets write() take no more than some bytes at a time.
inline void let_write_little(FileCalls& calls, std::size_t most) {
  calls.write = [right = calls.write, most](int file, const void* bytes, std::size_t size) {
    return right(file, bytes, std::min(size, most));
  };
}

}  // namespace rooflab
