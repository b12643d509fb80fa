#include "grader/contract/oracle.h"

namespace rooflab {

Work Oracle::work(const Values& /*parameters*/) const { return {}; }

}  // namespace rooflab
