#pragma once

#include <string>
#include <vector>

namespace rooflab {

/// Words as exec and posix_spawn take them, ended by a null pointer. The pointers live as long as
/// the words, which nobody changes: the functions only lack a const that C cannot say.
inline std::vector<char*> as_pointers(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace rooflab
