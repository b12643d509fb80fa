#pragma once

#include <string>
#include <string_view>

namespace rooflab::mutation {

/// A constant by its name: kTile, TILE, CUDART_INF_F.
bool is_constant(const std::string& name);
/// threadIdx and the like.
bool is_axis_object(const std::string& name);
/// "rooflab_variants::pick(17, "
std::string call(std::string_view function, int number);

}  // namespace rooflab::mutation
