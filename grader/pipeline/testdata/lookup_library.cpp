// Looks a function up at run time.
#include <dlfcn.h>
extern "C" [[gnu::visibility("default")]] void* rooflab_entry_scale() {
  return dlsym(nullptr, "cublasSgemm_v2");
}
