#include "simgpu/runtime/context.h"

namespace simgpu::runtime {

Context& Context::instance() {
  // Never destroyed: programs call the runtime from their own static destructors.
  static Context& context = *new Context;  // NOLINT(cppcoreguidelines-owning-memory)
  return context;
}

void Context::reset() {
  // Captures and graphs go together: nobody captures into a graph that is about to go.
  const auto lock = get<GraphTable>().lock();
  ++instance().life_;
  // A comma keeps the order.
  std::apply([](auto&... tables) { (tables.clear(), ...); }, instance().tables_);
}

}  // namespace simgpu::runtime
