#pragma once

#include <cstdint>

namespace rooflab {

/// values[i] = what load() of toolkit/vectors.h makes of p[0] ... p[count - 1], a vector at a time:
/// `values` has room for whole vectors.
template <typename T>
void load_all(const T* p, std::int64_t count, float* values);

/// The same for store(): from whole vectors of values to p[0] ... p[count - 1].
template <typename T>
void store_all(T* p, std::int64_t count, const float* values);

}  // namespace rooflab
