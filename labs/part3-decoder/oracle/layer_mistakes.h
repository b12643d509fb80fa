#pragma once

#include <functional>
#include <vector>

#include "grader/contract/oracle.h"
#include "labs/part3-decoder/oracle/layer.h"

namespace rooflab {

/// The outputs of a layer, or of a step of it, under a rule; with `stores_keys` false decoded
/// tokens stay out of the cache.
using LayerOutputs = std::function<std::vector<Expected>(const LayerRule& rule, bool stores_keys)>;

/// Known mistakes of a layer. Those that a step cannot make change nothing there, and are left out.
/// @param capacity of the cache; 0: there is none
std::vector<KnownMistake> layer_mistakes(const LayerShape& shape, std::int64_t capacity,
                                         const LayerOutputs& outputs);

}  // namespace rooflab
