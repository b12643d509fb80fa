#pragma once

#include <cstddef>
#include <span>
#include <vector>

/// What kernels come in: a fat binary as nvcc embeds it, machine code, or the text of a PTX module.
namespace simgpu::runtime {

/// The container behind what __cudaRegisterFatBinary is given, or nullptr.
const std::byte* container_of(const void* wrapper);

/// Whether that is what nvlink made of relocatable device code.
bool is_device_linked(const void* wrapper);

/// All bytes of the image that starts at `code`; none when it is too long to be one. A wrapper
/// stands for its container. Like the real runtime, believes a length that the image states.
std::span<const std::byte> image_at(const std::byte* code);

/// The contents of a file, up to the size of the largest image. @returns false if it cannot be read
bool read_image(const char* file, std::vector<std::byte>* image);

}  // namespace simgpu::runtime
