#pragma once

#include <map>
#include <string>

namespace rooflab {

/// A zip archive of these files, by their paths in it: the same bytes for the same files.
/// @param files paths in ASCII -> contents; a path that ends with ".sh", or has no extension, may
/// be executed
/// @throws FileError where libarchive cannot make it
std::string zip_file(const std::map<std::string, std::string>& files);

}  // namespace rooflab
