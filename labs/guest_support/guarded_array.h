#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <new>
#include <span>

namespace rooflab {

/// Numbers in host memory whose end meets a page that nobody may touch: whoever reads or writes
/// beyond them ends the process there and then, where an ordinary array would not notice.
class GuardedArray {
 public:
  explicit GuardedArray(std::span<const float> values) : count_(values.size()) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t pages = (values.size_bytes() + page - 1) / page * page;
    bytes_ = pages + page;
    pages_ = static_cast<std::byte*>(
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (pages_ == MAP_FAILED || mprotect(pages_ + pages, page, PROT_NONE) != 0) {
      throw std::bad_alloc();
    }
    data_ = reinterpret_cast<float*>(pages_ + pages - values.size_bytes());
    std::memcpy(data_, values.data(), values.size_bytes());
  }
  ~GuardedArray() { munmap(pages_, bytes_); }
  GuardedArray(const GuardedArray&) = delete;
  GuardedArray& operator=(const GuardedArray&) = delete;

  float* data() { return data_; }
  std::span<const float> values() const { return {data_, count_}; }

 private:
  std::byte* pages_ = nullptr;
  std::size_t bytes_ = 0;
  float* data_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace rooflab
