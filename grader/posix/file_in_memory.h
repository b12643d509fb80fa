#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <span>

#include "grader/posix/descriptor.h"

namespace rooflab {

/// A file without a place on any disk that holds `bytes`, to be read from its beginning. Not valid
/// when there is none; errno says why.
/// @param name what /proc shows of it
inline Descriptor file_in_memory(const char* name, std::span<const std::byte> bytes) {
  Descriptor file(memfd_create(name, MFD_CLOEXEC));
  while (file.valid() && !bytes.empty()) {
    const ssize_t count = write(file.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return {};
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  if (file.valid() && lseek(file.get(), 0, SEEK_SET) != 0) return {};
  return file;
}

}  // namespace rooflab
