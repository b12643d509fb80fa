#pragma once

#include <memory>
#include <string>

#include "grader/contract/oracle.h"
#include "grader/pipeline/installation.h"

namespace rooflab {

/// The oracles of one part, from its library in build/lib/labs/.
class OracleLibrary {
 public:
  /// @throws InstallationError when the library is missing or no oracle library.
  OracleLibrary(const Installation& installation, const std::string& part_directory);

  /// @throws InstallationError for an unknown name.
  std::unique_ptr<Oracle> make(const std::string& name) const;

 private:
  const std::map<std::string, OracleFactory>* registry_ = nullptr;
  std::string file_;
};

}  // namespace rooflab
