#pragma once

#include <filesystem>
#include <string>

namespace simgpu::cli {

/// Why a program has made no CUDA call, as a sentence with what to do: the runtime that it is
/// linked with is of a CUDA that simgpu has no library for, or it is linked with none.
/// @param program   its file; empty, or no program but a script, when that is not known
/// @param libraries the folder of the simulated GPU's libraries
std::string why_no_cuda_call(const std::string& program, const std::filesystem::path& libraries);

}  // namespace simgpu::cli
