#include "sum.h"

#include <algorithm>

#include "toolkit/check.h"
#include "toolkit/todo.h"

// Your kernel goes here: each block adds up a part of x.

void sum(const float* x, float* result, int n) {
  rooflab::todo("let one block add up 256 elements, then think of the other blocks");
}
