// What a library of implementations offers, beside names that only look like it.
#define ENTRY(name) \
  extern "C" [[gnu::visibility("default")]] void rooflab_entry_##name() {}

ENTRY(edges_10)
ENTRY(edges_2)
ENTRY(edges_x)
ENTRY(edges_of_tiles_1)
ENTRY(right_1)
