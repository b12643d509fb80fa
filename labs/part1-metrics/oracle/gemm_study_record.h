#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "grader/contract/oracle.h"
#include "labs/oracle_support/recorded_calls.h"

/// What the device saw of a GEMM study.
namespace rooflab {

/// One call of a GEMM at one size, as the device recorded it. The library counts no loads and
/// stores: theirs are infinite.
struct RecordedGemm : RecordedCall {
  int earlier_launches = 0;  ///< of its first kernel in the study itself
};

/// "tiled 256".
std::string name_of(std::string_view gemm, std::int64_t size);

/// The calls that the adapter makes behind the study, by name: each one is enclosed by two fills
/// of a length of their own. A call that is not there has no kernels.
std::map<std::string, RecordedGemm> recorded_gemms(const simgpu::Activity& activity,
                                                   const std::vector<std::int64_t>& sizes,
                                                   bool has_registers);

}  // namespace rooflab
