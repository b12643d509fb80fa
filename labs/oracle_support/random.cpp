#include "labs/oracle_support/random.h"

#include <bit>

namespace rooflab {
namespace {

/// The words of several blocks: word i of each of them side by side.
template <std::size_t blocks>
using Words = std::array<std::array<std::uint32_t, blocks>, 16>;

template <std::size_t blocks>
void quarter_round(Words<blocks>& words, int a, int b, int c, int d) {
  const auto step = [&words](int to, int from, int mixed, int turns) {
    for (std::size_t i = 0; i < blocks; ++i) {
      words[to][i] += words[from][i];
      words[mixed][i] = std::rotl(words[mixed][i] ^ words[to][i], turns);
    }
  };
  step(a, b, d, 16);
  step(c, d, b, 12);
  step(a, b, d, 8);
  step(c, d, b, 7);
}

template <std::size_t blocks>
Words<blocks> stream_of(const Words<blocks>& state, int rounds) {
  Words<blocks> words = state;
  for (int round = 0; round < rounds; round += 2) {
    for (int i = 0; i < 4; ++i) quarter_round(words, i, 4 + i, 8 + i, 12 + i);
    for (int i = 0; i < 4; ++i) {
      quarter_round(words, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4);
    }
  }
  for (std::size_t word = 0; word < words.size(); ++word) {
    for (std::size_t i = 0; i < blocks; ++i) words[word][i] += state[word][i];
  }
  return words;
}

/// "expand 32-byte k"
constexpr std::array<std::uint32_t, 4> kConstants{0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};

}  // namespace

std::array<std::uint32_t, 16> chacha_block(std::span<const std::uint32_t, 8> key,
                                           std::uint32_t counter,
                                           std::span<const std::uint32_t, 3> nonce, int rounds) {
  Words<1> state{};
  for (std::size_t i = 0; i < 4; ++i) state[i][0] = kConstants[i];
  for (std::size_t i = 0; i < 8; ++i) state[4 + i][0] = key[i];
  state[12][0] = counter;
  for (std::size_t i = 0; i < 3; ++i) state[13 + i][0] = nonce[i];
  const Words<1> words = stream_of(state, rounds);
  std::array<std::uint32_t, 16> stream{};
  for (std::size_t i = 0; i < stream.size(); ++i) stream[i] = words[i][0];
  return stream;
}

void Random::refill() {
  constexpr int kRounds = 8;
  Words<kBlocks> state{};
  for (std::size_t i = 0; i < kBlocks; ++i) {
    for (std::size_t word = 0; word < 4; ++word) state[word][i] = kConstants[word];
    state[4][i] = static_cast<std::uint32_t>(seed_);
    state[5][i] = static_cast<std::uint32_t>(seed_ >> 32);
    state[12][i] = static_cast<std::uint32_t>(block_ + i);
    state[13][i] = static_cast<std::uint32_t>((block_ + i) >> 32);
  }
  const Words<kBlocks> words = stream_of(state, kRounds);
  for (std::size_t i = 0; i < kBlocks; ++i) {
    for (std::size_t word = 0; word < 8; ++word) {
      kept_[8 * i + word] = words[2 * word][i] | std::uint64_t{words[2 * word + 1][i]} << 32;
    }
  }
  block_ += kBlocks;
  next_ = 0;
}

}  // namespace rooflab
