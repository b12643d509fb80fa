#include "grader/sandbox/await_program_image.h"

// ROOFLAB_AWAIT_PROGRAM is its path in the build tree.
asm(R"(
  .pushsection .rodata
  .balign 16
  .globl rooflab_await_program_begin
  .globl rooflab_await_program_end
rooflab_await_program_begin:
  .incbin ")" ROOFLAB_AWAIT_PROGRAM R"("
rooflab_await_program_end:
  .popsection
)");

extern "C" const std::byte rooflab_await_program_begin[];
extern "C" const std::byte rooflab_await_program_end[];

namespace rooflab {

std::span<const std::byte> await_program_image() {
  return {rooflab_await_program_begin, rooflab_await_program_end};
}

}  // namespace rooflab
