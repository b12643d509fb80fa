#pragma once

#include <source_location>

namespace rooflab {

/// Marks a place where your code goes. Replace the call with your code.
///
///     rooflab::todo("choose a block shape, then launch the kernel");
///
/// @throws NotImplemented (toolkit/not_implemented.h)
[[noreturn]] void todo(const char* message,
                       const std::source_location& place = std::source_location::current());

}  // namespace rooflab
