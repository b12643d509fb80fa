#pragma once

// What kernels of several files need. The file is yours: whatever you put here, every file of this
// part may include.

