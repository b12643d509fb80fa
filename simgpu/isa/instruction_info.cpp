#include "simgpu/isa/instruction_info.h"

namespace simgpu {

const char* name_of(InstructionClass cls) {
  using enum InstructionClass;
  switch (cls) {
    case fp32:
      return "fp32";
    case fp64:
      return "fp64";
    case fp16:
      return "fp16";
    case integer:
      return "integer";
    case conversion:
      return "conversion";
    case special:
      return "special";
    case tensor:
      return "tensor";
    case global_load:
      return "global_load";
    case global_store:
      return "global_store";
    case global_atomic:
      return "global_atomic";
    case shared_load:
      return "shared_load";
    case shared_store:
      return "shared_store";
    case shared_atomic:
      return "shared_atomic";
    case local_load:
      return "local_load";
    case local_store:
      return "local_store";
    case constant_load:
      return "constant_load";
    case async_copy:
      return "async_copy";
    case generic_access:
      return "generic_access";
    case control:
      return "control";
    case barrier:
      return "barrier";
    case warp_exchange:
      return "warp_exchange";
    case move:
      return "move";
    case other:
      return "other";
  }
  return "other";
}

}  // namespace simgpu
