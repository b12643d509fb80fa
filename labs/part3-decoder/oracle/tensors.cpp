#include "labs/part3-decoder/oracle/tensors.h"

namespace rooflab {

Tensor consecutive(const std::string& name, std::int64_t first, std::int64_t count) {
  return drawn(name, ElementType::int32, Role::input, {count},
               [next = first]() mutable { return static_cast<double>(next++); });
}

}  // namespace rooflab
