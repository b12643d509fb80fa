#pragma once

#include <stdexcept>

namespace rooflab {

/// A CUDA or cuBLAS call that failed. what() holds file and line, the call, the error and what to
/// look at.
class CudaError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace rooflab
