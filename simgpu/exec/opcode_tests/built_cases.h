#pragma once

#include <string>
#include <vector>

/// The instructions that the tests of opcodes with code of their own execute, for the test of
/// coverage.
namespace simgpu::opcode_tests {

std::vector<std::string> warp_instructions();
std::vector<std::string> memory_instructions();
std::vector<std::string> atomic_instructions();
std::vector<std::string> control_instructions();
std::vector<std::string> tile_instructions();
std::vector<std::string> mma_instructions();
std::vector<std::string> matrix_instructions();
std::vector<std::string> async_copy_instructions();
std::vector<std::string> texture_instructions();
std::vector<std::string> mbarrier_instructions();
std::vector<std::string> stack_instructions();

}  // namespace simgpu::opcode_tests
