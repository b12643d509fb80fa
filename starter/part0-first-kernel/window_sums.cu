#include "window_sums.h"

#include "toolkit/check.h"
#include "toolkit/todo.h"

// Your kernel goes here: a block of threads adds up as many windows.

void window_sums(const float* x, float* y, int n) {
  rooflab::todo("how many elements of x does a block of 256 windows need?");
}
