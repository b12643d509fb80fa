#include "simgpu/replay/names.h"

namespace simgpu::replay {

void name_values(Recording&, const SourceText&) {}

}  // namespace simgpu::replay
