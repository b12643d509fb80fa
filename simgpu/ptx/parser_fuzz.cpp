// libFuzzer's entry: any text either parses or throws ParseError. Built with -DROOFLAB_FUZZ=ON by
// clang; parser_mutation_test.cpp calls the same function.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "simgpu/ptx/parser.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    simgpu::ptx::parse({reinterpret_cast<const char*>(data), size});
  } catch (const simgpu::ptx::ParseError& error) {
    // A caret line without its place would be no use to anyone.
    if (error.line() == 0 || error.column() == 0) __builtin_trap();
  }
  return 0;
}
