#include "simgpu/machine_code/pending_code.h"

#include <exception>
#include <utility>

namespace simgpu::machine_code {

PendingCode::PendingCode(const Assembler& assembler, std::string ptx, std::string architecture,
                         bool is_kept)
    : result_(std::async(std::launch::async, [this, &assembler, ptx = std::move(ptx),
                                              architecture = std::move(architecture), is_kept] {
        try {
          return assembler.assemble(ptx, architecture, stop_, is_kept);
        } catch (const std::exception& error) {  // no memory, no disk
          return Assembled{.why = error.what()};
        }
      })) {}

PendingCode::~PendingCode() {
  stop_.store(true);
  result_.wait();
}

}  // namespace simgpu::machine_code
