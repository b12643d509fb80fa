#pragma once

#include <string_view>

namespace rooflab::mutation {

inline constexpr const char* kVariantHeader = "rooflab_variants.h";

/// What a file with mutants includes: each of its functions does what the source says, unless the
/// variant of its number has been chosen. The file exports
/// `rooflab_choose_variant(int first, int second, double value)`, which chooses up to two; 0 stands
/// for none.
std::string_view variant_header();

}  // namespace rooflab::mutation
