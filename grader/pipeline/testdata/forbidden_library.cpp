// Imports a function that the test's task forbids.
extern "C" int cublasSgemm_v2();
extern "C" [[gnu::visibility("default")]] int rooflab_entry_scale() { return cublasSgemm_v2(); }
