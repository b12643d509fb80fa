#include "grader/contract/oracle.h"

ROOFLAB_ORACLE_LIBRARY()
