#pragma once

namespace gpu_spec {

inline constexpr double kMega = 1e6;
inline constexpr double kGiga = 1e9;
inline constexpr double kTera = 1e12;

}  // namespace gpu_spec
