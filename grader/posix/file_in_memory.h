#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <span>
#include <string_view>

#include "grader/posix/descriptor.h"
#include "grader/posix/file_calls.h"

namespace rooflab {

/// A file without a place on any disk that holds `bytes`, to be read from its beginning. Not valid
/// when there is none; errno says why.
/// @param name what /proc shows of it
inline Descriptor file_in_memory(const char* name, std::span<const std::byte> bytes) {
  Descriptor file(memfd_create(name, MFD_CLOEXEC));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (file.valid() && !write_whole(file.get(), text)) return {};
  if (file.valid() && lseek(file.get(), 0, SEEK_SET) != 0) return {};
  return file;
}

}  // namespace rooflab
