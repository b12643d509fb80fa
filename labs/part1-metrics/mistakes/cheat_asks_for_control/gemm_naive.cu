#include <unistd.h>

#include <cstdint>

#include "gemm.h"

void gemm_naive(const float*, const float*, float*, int, int, int) {
  const std::uint32_t unknown_operation = 1000;
  for (std::uint32_t operation : {9u, 10u, 11u, unknown_operation}) {
    const std::uint32_t header[2] = {operation, 0};
    if (write(4, header, sizeof(header)) < 0) return;
  }
}
