#pragma once

#include <cstddef>

/// How libcublas.so.13 reaches the device through this process's one connection. Private to the two
/// libraries.
extern "C" int simgpu_library_call(const void* request, std::size_t request_bytes, void* answer,
                                   std::size_t answer_bytes);
