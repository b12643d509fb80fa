#pragma once

#include <string>

#include "grader/contract/problem.h"
#include "grader/diagnose/axes.h"
#include "simgpu/finding.h"

/// Places in global memory, as the tensors of a case explain them.
namespace rooflab {

/// The finding with elements of tensors by their indices, "A[1][4]" for "byte 272 of the 16384-byte
/// allocation (A)". What lies beside a tensor keeps its bytes, and gets the tensor's shape. Where a
/// tensor's axes have names, the place is said in these, too: "token 3, channel 17"; and where the
/// two accesses of a race are of different elements, as those of 4 and of 16 bytes, in what each of
/// them does.
/// @param axes none for a hidden case: its coordinates tell its sizes
simgpu::Finding with_tensor_elements(simgpu::Finding finding, const Problem& problem,
                                     const AxisNames& axes);

/// What helps against an access out of bounds where the sizes of the case say more than that it is
/// one: a size in elements where bytes are wanted, or the row length of another matrix. Empty where
/// they do not.
std::string help_by_sizes(const simgpu::Finding& finding, const Problem& problem);

}  // namespace rooflab
