#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace rooflab {

/// ChaCha (D. J. Bernstein, 2008), its stream of words as in RFC 8439: 16 for each block, which
/// `counter` numbers.
std::array<std::uint32_t, 16> chacha_block(std::span<const std::uint32_t, 8> key,
                                           std::uint32_t counter,
                                           std::span<const std::uint32_t, 3> nonce, int rounds);

/// The source of every input, a generator as the standard library's: the stream of ChaCha with
/// eight rounds, whose key is the seed. A guest sees inputs, and host code costs no modelled time:
/// from a generator whose state follows from some of its numbers it could make all inputs itself,
/// without a copy that anybody sees. From this one's numbers nothing follows about others.
class Random {
 public:
  using result_type = std::uint64_t;
  explicit Random(std::uint64_t seed) : seed_(seed) {}

  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }
  result_type operator()() {
    if (next_ == kept_.size()) refill();
    return kept_[next_++];
  }

 private:
  static constexpr std::size_t kBlocks = 8;  ///< side by side, for the width of vector registers
  void refill();

  std::uint64_t seed_;
  std::uint64_t block_ = 0;  ///< that comes next
  std::array<std::uint64_t, 8 * kBlocks> kept_{};
  std::size_t next_ = kept_.size();
};

}  // namespace rooflab
