#pragma once

#include <string>
#include <vector>

#include "grader/contract/problem.h"
#include "simgpu/report.h"

/// Whether the device itself did the work whose result it holds. The right numbers alone do not say
/// so: host code may compute them and copy them there, or ask the device for a library's kernel
/// without the library. Everything here rests on what the device saw, which no guest can forge. A
/// real GPU keeps no such records, and then nothing is found.
namespace rooflab {

/// The first function the device served that one of the regular expressions finds a match in; empty
/// for none. Unlike the symbols of the built file, this cannot be gone around.
std::string forbidden_call(const simgpu::Activity& activity,
                           const std::vector<std::string>& patterns);

/// What is missing, in words, when the kernels did less than half of the floating-point operations
/// that the case takes; else empty. Half, since a sum of one product has no addition, and some
/// algorithms save multiplications.
std::string missing_operations(const Work& work, const simgpu::Activity& activity);

/// What is missing, in words, when the kernels and copies of a sampled run, all blocks counted,
/// stored fewer bytes than the outputs have; else empty. Elements that such a run leaves out are
/// not judged, so that a grid that covers half of them would count as twice as fast. What cuBLAS
/// stores is not recorded: with it, nothing is missing.
std::string missing_stores(const Problem& problem, const simgpu::Activity& activity);

/// What left the device, in words, when the call copied more than a tenth of the case's bytes to
/// the host; else empty. Host code runs beside the device's clock, so what it computes costs no
/// time.
std::string copies_to_host(const Work& work, const simgpu::Activity& activity);

}  // namespace rooflab
