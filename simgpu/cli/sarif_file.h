#pragma once

#include <string>
#include <vector>

#include "simgpu/finding.h"

namespace simgpu::cli {

/// The findings of one run as SARIF, for editors. Places in host code and kernels are the files
/// that the program was compiled from.
std::string sarif_document(const std::vector<Finding>& findings);

}  // namespace simgpu::cli
