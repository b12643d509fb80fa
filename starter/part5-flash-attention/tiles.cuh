#pragma once

// What the fast kernels share: flash_forward, flash_tensor_cores and flash_decode. The file is
// yours, like common.cuh.

