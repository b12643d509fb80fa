#pragma once

#include <cstddef>
#include <vector>

namespace rooflab {

/// Where the kernel has huge pages, memory that nobody has touched yet is to come in them.
void advise_huge_pages(void* begin, std::size_t bytes);

/// `count` zeros. Of many the memory comes in huge pages: page faults take longer than drawing an
/// input of hundreds of megabytes.
template <typename T>
std::vector<T> large_vector(std::size_t count) {
  std::vector<T> elements;
  elements.reserve(count);  // nothing of it is touched yet
  advise_huge_pages(elements.data(), count * sizeof(T));
  elements.resize(count);
  return elements;
}

}  // namespace rooflab
