#pragma once

#include <cstddef>
#include <cstdint>

/// How libcublas reaches the device through this process's one connection. Private to the two
/// libraries.
extern "C" int simgpu_library_call(const void* request, std::size_t request_bytes, void* answer,
                                   std::size_t answer_bytes);

/// The program makes or destroys a cuBLAS handle: the device hears of it.
extern "C" void simgpu_note_blas_handle(bool is_made);

/// How libcupti does; `operation` is one of those whose name begins with activity_
/// (device/protocol.h). The answer's first `capacity` bytes go to `answer`, and how many these were
/// to `answered`; both may be null.
/// @returns a cudaError_t
extern "C" int simgpu_activity_call(std::uint32_t operation, const void* request,
                                    std::size_t request_bytes, void* answer, std::size_t capacity,
                                    std::size_t* answered);

/// The program has called a function that one of the libraries does not carry out, `in_part`: not
/// with these arguments. The device makes a finding of it; the caller says more on stderr.
extern "C" void simgpu_report_refusal(const char* function, bool in_part);
