// A built submission as the grade tests need it: it only has to be a library with nothing forbidden
// in it.
#include <cstring>

extern "C" [[gnu::visibility("default")]] std::size_t rooflab_entry_scale(const char* text) {
  return std::strlen(text);
}
