#pragma once

#include <unistd.h>

#include <utility>

namespace rooflab {

/// Owns a file descriptor.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      reset();
      number_ = std::exchange(other.number_, -1);
    }
    return *this;
  }
  ~Descriptor() { reset(); }

  int get() const { return number_; }
  bool valid() const { return number_ >= 0; }
  /// Gives up ownership: closing is the caller's from now on.
  int release() { return std::exchange(number_, -1); }
  void reset() {
    if (number_ >= 0) {
      close(number_);
    }
    number_ = -1;
  }

 private:
  int number_ = -1;
};

}  // namespace rooflab
