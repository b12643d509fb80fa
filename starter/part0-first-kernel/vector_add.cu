#include "vector_add.h"

#include "toolkit/check.h"
#include "toolkit/todo.h"

// Your kernel goes here: one thread for each element.

void vector_add(const float* a, const float* b, float* c, int n) {
  rooflab::todo("allocate three arrays on the device, then copy a and b there");
}
