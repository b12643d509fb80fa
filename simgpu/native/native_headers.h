#pragma once

#include <string>

namespace simgpu::native {

/// segment_code.h and what it includes of this project, as one text: generated code needs no file
/// of an installation. Made by cmake/embed_headers.cmake.
const std::string& native_headers();

}  // namespace simgpu::native
