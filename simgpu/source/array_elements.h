#pragma once

#include <optional>
#include <string>
#include <vector>

#include "simgpu/source/early_returns.h"

namespace simgpu {

/// Names places in shared and local memory as the source does: "As[1][4]" for "byte 144 of shared
/// array As (4096 bytes)", in a finding's message and object. The declaration has to have as many
/// bytes as the array; where its lengths are not known, an element is "element 36 of As", and where
/// its type is not known, the finding keeps its bytes.
void name_array_elements(std::vector<Finding>& findings, const SourceText& text);

/// "As[1][4]" for the element at `offset` bytes of a row-major array; the first index may lie
/// outside. nullopt where the array has no elements.
/// @param lengths of all dimensions; the first one does not matter
std::optional<std::string> element_text(const std::string& name,
                                        const std::vector<std::int64_t>& lengths,
                                        std::uint64_t element_bytes, std::int64_t offset);

/// Puts `words` in the place of what a finding says of one of its places.
void reword_place(Finding& finding, ArrayPlace& place, const std::string& words);

}  // namespace simgpu
