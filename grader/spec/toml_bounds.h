#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace rooflab {

/// The line, from 1, at which a TOML text nests deeper than a reader's stack can be trusted with:
/// keys of more than 32 parts ("a.b.c"), or brackets within more than 64 others. No file of a
/// course comes near. It looks at each byte once, so that it can be asked of any text before that
/// is parsed; of a text that is no TOML it is right up to the place where a parser stops.
std::optional<std::size_t> nests_too_deep(std::string_view toml);

}  // namespace rooflab
