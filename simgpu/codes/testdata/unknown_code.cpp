#include "simgpu/codes/code.h"

constexpr simgpu::Code kKnown = "RL0201";
constexpr simgpu::Code kUnknown = "RL0200";
