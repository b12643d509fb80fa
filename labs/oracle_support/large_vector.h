#pragma once

#include <cstddef>
#include <vector>

#include "simgpu/memory/huge_pages.h"

namespace rooflab {

/// `count` zeros. Of many the memory comes in huge pages: page faults take longer than drawing an
/// input of hundreds of megabytes.
template <typename T>
std::vector<T> large_vector(std::size_t count) {
  std::vector<T> elements;
  elements.reserve(count);  // nothing of it is touched yet
  simgpu::advise_huge_pages(elements.data(), count * sizeof(T));
  elements.resize(count);
  return elements;
}

}  // namespace rooflab
