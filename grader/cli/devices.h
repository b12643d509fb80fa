#pragma once

#include "grader/device/open_device.h"
#include "grader/pipeline/installation.h"
#include "grader/pipeline/toolchain.h"

namespace rooflab {

/// Where devices find their programs and libraries in this installation.
DeviceOptions device_options(const Installation& installation, const Toolchain& toolchain,
                             bool sandbox);

}  // namespace rooflab
