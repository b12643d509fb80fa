#pragma once

#include <cstddef>
#include <span>

namespace rooflab {

/// The program `await_program` as a file. Whoever starts a sandbox carries it along, so that there
/// is no file to be found, copied into a kit or forgotten.
std::span<const std::byte> await_program_image();

}  // namespace rooflab
