#pragma once

#include "grader/device/open_device.h"
#include "grader/pipeline/installation.h"
#include "grader/pipeline/toolchain.h"

namespace rooflab {

/// Where devices find their programs and libraries in this installation.
DeviceOptions device_options(const Installation& installation, const Toolchain& toolchain,
                             bool sandbox);

/// Has stderr told, in lines that stay, why `auto` takes the device that it does, and who waits for
/// a GPU: where `auto` was asked for by name, or where there is a GPU to wonder about.
/// @param selector what the command says; may be empty
void tell_of_device(const std::string& selector, DeviceOptions& options);

}  // namespace rooflab
