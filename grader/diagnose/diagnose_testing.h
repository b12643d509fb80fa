#pragma once

#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "grader/diagnose/diagnose.h"
#include "grader/report/terminal.h"

namespace rooflab {

/// A submission with one file.
class DiagnoseTest : public ::testing::Test {
 protected:
  void SetUp() override {
    context_.part = 1;
    context_.task = "gemm_tiled";
    context_.case_name = "64 x 64 x 64";
    context_.case_number = 2;
    context_.seed = 8812;
    context_.submission = "submission";
    context_.file = "gemm_tiled.cu";
    context_.sources["gemm_tiled.cu"] =
        "// line 1\n"
        "    Bs[ty][tx] = B[row * N + col];\n"
        "    for (int k = 0; k < TILE; ++k) {\n"
        "        acc += As[ty][k] * Bs[k][tx];\n"
        "    }\n";
  }

  static std::string told(const Diagnostic& story) {
    std::ostringstream out;
    print_story(out, story, false);
    return out.str();
  }

  DiagnoseContext context_;
};

}  // namespace rooflab
