#include "toolkit/todo.h"

#include "toolkit/not_implemented.h"

namespace rooflab {

void todo(const char* message, const std::source_location& place) {
  throw NotImplemented(message, place);
}

}  // namespace rooflab
