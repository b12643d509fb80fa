#pragma once

#include "topic.h"

/// Lines about the error of a call, and what cudaPeekAtLastError says after it.
namespace fidelity {

/// The topic that the lines are of.
inline std::string& shown_topic() {
  static std::string topic = "errors";
  return topic;
}

inline void show(const char* what, cudaError_t error) {
  const cudaError_t peeked = cudaPeekAtLastError();
  std::printf("%s %s -> %s peek %s\n", shown_topic().c_str(), what, cudaGetErrorName(error),
              cudaGetErrorName(peeked));
  cudaGetLastError();
}

#define SHOW(...) ::fidelity::show(#__VA_ARGS__, __VA_ARGS__)
#define SHOW_LAUNCH(...)                                   \
  do {                                                     \
    __VA_ARGS__;                                           \
    ::fidelity::show(#__VA_ARGS__, cudaPeekAtLastError()); \
    cudaDeviceSynchronize();                               \
  } while (false)

}  // namespace fidelity
