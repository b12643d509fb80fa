#include "grader/guest/proof.h"

// ROOFLAB_PROOF_IMAGE is its path in the build tree.
asm(R"(
  .pushsection .rodata
  .balign 16
  .globl rooflab_proof_image_begin
  .globl rooflab_proof_image_end
rooflab_proof_image_begin:
  .incbin ")" ROOFLAB_PROOF_IMAGE R"("
rooflab_proof_image_end:
  .popsection
)");

extern "C" const std::byte rooflab_proof_image_begin[];
extern "C" const std::byte rooflab_proof_image_end[];

namespace rooflab {

std::span<const std::byte> proof_image() {
  return {rooflab_proof_image_begin, rooflab_proof_image_end};
}

}  // namespace rooflab
