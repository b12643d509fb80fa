#pragma once

#include <optional>
#include <string_view>

#include "simgpu/ptx/ast.h"

namespace simgpu::ptx {

/// The type that PTX writes as `.name`, if there is one: "f32" is Type::f32.
std::optional<Type> type_named(std::string_view name);

}  // namespace simgpu::ptx
