#pragma once

#include <string>
#include <utility>
#include <vector>

namespace simgpu::opcode_tests {

/// The instructions, with operands, that the test of an opcode with code of its own executes. One
/// stands at namespace scope in each such test, and the test of coverage finds it.
class TestedInstructions {
 public:
  using Instructions = std::vector<std::string>;

  explicit TestedInstructions(Instructions (*make)()) { registered().push_back(make); }
  static Instructions all() {
    Instructions all;
    for (const auto make : registered()) {
      for (std::string& instruction : make()) all.push_back(std::move(instruction));
    }
    return all;
  }

 private:
  static std::vector<Instructions (*)()>& registered() {
    static std::vector<Instructions (*)()> lists;
    return lists;
  }
};

}  // namespace simgpu::opcode_tests
