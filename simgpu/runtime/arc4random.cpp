#include <unistd.h>

// glibc has it since 2.36, and libstdc++, which is linked statically, asks for it where it was
// built with such a glibc. Nothing here draws a random number: with a definition of our own, hidden
// like all that is not CUDA's, the library also loads where glibc is older (scripts/wheel).
extern "C" unsigned arc4random() noexcept {  // NOLINT(readability-identifier-naming)
  unsigned number = 0;
  if (getentropy(&number, sizeof number) != 0) return 0;
  return number;
}
