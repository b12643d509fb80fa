#pragma once

#include <stdexcept>
#include <string>

namespace rooflab {

/// A CUDA or cuBLAS call that failed. what() holds file and line, the call, the error and what to
/// look at; the others hold them one by one.
class CudaError : public std::runtime_error {
 public:
  /// @param failure "cudaMalloc(&p, n) failed with cudaErrorMemoryAllocation (out of memory)"
  /// @param advice what to look at
  CudaError(const std::string& file, int line, const std::string& failure,
            const std::string& advice)
      : std::runtime_error(file + ":" + std::to_string(line) + ": " + failure + ". Look at " +
                           advice + "."),
        file_(file),
        line_(line),
        failure_(failure),
        advice_(advice) {}

  const std::string& file() const noexcept { return file_; }
  int line() const noexcept { return line_; }
  const std::string& failure() const noexcept { return failure_; }
  const std::string& advice() const noexcept { return advice_; }

 private:
  std::string file_;
  int line_;
  std::string failure_, advice_;
};

}  // namespace rooflab
