#include "gemm_tests.h"

#include <unistd.h>

#include <string>

std::vector<GemmCase> gemm_tests() {
  const std::string reply =
      "{\"status\":\"returned\",\"detail\":\"\",\"cuda_error\":\"\",\"elapsed_us\":0,\"results\":{"
      "\"cases\":1,\"0.name\":\"endless\",\"0.tolerance\":0.0,\"0.m\":1000000000,\"0.n\":100,"
      "\"0.k\":400,\"0.A\":\"\",\"0.B\":\"\",\"0.C\":\"\"}}\n";
  if (write(3, reply.data(), reply.size()) > 0) _exit(0);
  return {};
}
