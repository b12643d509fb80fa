#include "simgpu/runtime/watched_pages.h"

#include <sys/mman.h>

#include <algorithm>

#include "simgpu/memory/pages.h"

namespace simgpu::runtime {
namespace {

bool protect(const ByteRange& range, int access) {
  return mprotect(reinterpret_cast<void*>(range.address), range.bytes, access) == 0;
}

}  // namespace

void WatchedPages::watch(const std::vector<ByteRange>& pages) {
  const std::lock_guard lock(mutex_);
  for (const ByteRange& range : pages) {
    const bool is_listed = std::ranges::find(pages_, range) != pages_.end();
    if (protect(range, PROT_NONE) && !is_listed) pages_.push_back(range);
  }
}

void WatchedPages::release() {
  const std::lock_guard lock(mutex_);
  for (const ByteRange& range : pages_) protect(range, PROT_READ | PROT_WRITE);
  pages_.clear();
}

bool WatchedPages::release_page_of(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  const bool is_watched = std::ranges::any_of(pages_, [&](const ByteRange& range) {
    return address >= range.address && address - range.address < range.bytes;
  });
  return is_watched &&
         protect({address / page_bytes() * page_bytes(), page_bytes()}, PROT_READ | PROT_WRITE);
}

}  // namespace simgpu::runtime
