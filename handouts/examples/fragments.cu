/// The examples of codes that the checkers of the simulated GPU do not find, compiled and not run:
/// README.md tells more.
#include "host_fragments.h"
#include "kernel_fragments.h"
