// libFuzzer's entry: any text either parses, and does so with an instruction a line, or throws
// ParseError; the bytes are one text, and make another that nests, counts and repeats. Built with
// -DROOFLAB_FUZZ=ON by clang; parser_mutation_test.cpp calls the same function.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "simgpu/fuzzing/grammar/ptx_text.h"
#include "simgpu/ptx/one_a_line.h"
#include "simgpu/ptx/parser.h"

namespace {

void parse_or_throw(std::string_view text) {
  try {
    simgpu::ptx::parse(simgpu::ptx::one_instruction_a_line(text));
  } catch (const simgpu::ptx::ParseError& error) {
    // A caret line without its place would be no use to anyone.
    if (error.line() == 0 || error.column() == 0) __builtin_trap();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  parse_or_throw(bytes);
  simgpu::fuzzing::Choices choices(bytes.substr(0, 4096));
  parse_or_throw(simgpu::fuzzing::PtxText(choices).text());
  return 0;
}
