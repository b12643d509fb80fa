#include "simgpu/device/origins_wire.h"

#include <gtest/gtest.h>

#include <vector>

#include "simgpu/device/wire.h"

namespace simgpu::origins_wire_test {
namespace {

std::vector<MemoryOrigin> some_origins() {
  return {{.stores = 2,
           .file = "gemm.cu",
           .line = 7,
           .block = {1, 2, 3},
           .thread = {4, 5, 6},
           .reads = {{.address = 256,
                      .bytes = 4,
                      .times = 3,
                      .file = "gemm.cu",
                      .line = 5,
                      .block = {7, 8, 9},
                      .thread = {10, 11, 12}},
                     OriginRead{}},
           .complete = false},
          {}};
}

TEST(OriginsWire, WhatIsSentComesBack) {
  EXPECT_EQ(decode_origins(encode_origins(some_origins())), some_origins());
  EXPECT_EQ(decode_origins(encode_origins({})), std::vector<MemoryOrigin>{});
}

TEST(OriginsWire, NoPartOfAMessageIsTakenForTheWhole) {
  const std::vector<std::byte> bytes = encode_origins(some_origins());
  for (std::size_t count = 0; count < bytes.size(); ++count) {
    const std::span<const std::byte> part(bytes.data(), count);
    try {
      EXPECT_LT(decode_origins(part).size(), some_origins().size()) << count;
    } catch (const wire::MessageError&) {
    }
  }
}

TEST(OriginsWire, BytesThatChangedOnTheWayAreNoneOfOurs) {
  std::vector<std::byte> bytes = encode_origins(some_origins());
  for (std::byte& byte : bytes) {
    const std::byte kept = byte;
    byte = std::byte{0xFF};
    try {
      decode_origins(bytes);
    } catch (const wire::MessageError&) {
    }
    byte = kept;
  }
}

}  // namespace
}  // namespace simgpu::origins_wire_test
