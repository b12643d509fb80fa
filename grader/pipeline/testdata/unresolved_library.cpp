// Calls a function that nobody defines, as an adapter does when the student's file lacks it.
void scale_values(const float* x, int n);
extern "C" [[gnu::visibility("default")]] void rooflab_entry_scale() { scale_values(nullptr, 0); }
