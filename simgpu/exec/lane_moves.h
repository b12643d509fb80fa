#pragma once

#include <cstring>

#include "simgpu/exec/lanes.h"

/// Moves one element of each of 32 lanes between memory and a register, by how the lanes' addresses
/// lie.
namespace simgpu {

template <unsigned kBytes>
using Element = std::conditional_t<
    kBytes == 1, std::uint8_t,
    std::conditional_t<kBytes == 2, std::uint16_t,
                       std::conditional_t<kBytes == 4, std::uint32_t, std::uint64_t>>>;

template <class T>
inline T load_element(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}
template <class T>
inline void store_element(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof(T));
}

/// Each lane's element lies kStride bytes behind the one of the lane before.
template <class T, unsigned kStride>
inline void read_consecutive(WordOf<T>* to, const std::byte* first) {
#pragma GCC ivdep
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    to[lane] = load_element<T>(first + lane * kStride);
  }
}

template <class T>
inline void read_uniform(WordOf<T>* to, const std::byte* at) {
  const T value = load_element<T>(at);
  for (unsigned lane = 0; lane < kWarpSize; ++lane) to[lane] = value;
}

/// @param relative of each lane to `first`, in bytes
template <class T, class Word>
inline void read_scattered(WordOf<T>* to, const std::byte* first, const Word* relative) {
#if defined(__AVX512F__)  // vectors are gathered
#pragma GCC ivdep
#else
#pragma GCC unroll 16
#endif
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    to[lane] = load_element<T>(first + static_cast<std::make_signed_t<Word>>(relative[lane]));
  }
}

template <class T, unsigned kStride>
inline void write_consecutive(std::byte* first, const WordOf<T>* from) {
#pragma GCC ivdep
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    store_element<T>(first + lane * kStride, static_cast<T>(from[lane]));
  }
}

}  // namespace simgpu
