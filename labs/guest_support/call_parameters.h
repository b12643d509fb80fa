#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <stdexcept>
#include <string>
#include <type_traits>

#include "grader/contract/guest_call.h"

/// What adapters read from a call in the same way.
namespace rooflab {

inline int size(const GuestCall& call, const std::string& name) {
  return static_cast<int>(call.integer(name));
}

/// Calls `function` with a value of the storage type of this name, for its type alone: one of
/// Types.
/// @throws std::invalid_argument for any other type
template <typename... Types, typename Function>
void with_type(const std::string& type, Function&& function) {
  const auto is = [&]<typename T>(std::type_identity<T>) {
    if constexpr (std::is_same_v<T, float>) return type == "float";
    if constexpr (std::is_same_v<T, __half>) return type == "half";
    if constexpr (std::is_same_v<T, __nv_bfloat16>) return type == "bf16";
  };
  const auto call_if = [&]<typename T>(std::type_identity<T> identity) {
    if (is(identity)) function(identity);
    return is(identity);
  };
  if (!(call_if(std::type_identity<Types>()) || ...)) {
    throw std::invalid_argument("part.toml gives a type that this task has not: " + type);
  }
}

/// The same with the case's storage type.
template <typename... Types, typename Function>
void with_type(const GuestCall& call, Function&& function) {
  with_type<Types...>(call.text("type"), function);
}

}  // namespace rooflab
