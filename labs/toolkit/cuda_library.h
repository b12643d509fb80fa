#pragma once

#include <cuda_runtime.h>

// Loading compiled code while a program runs, which CUDA's runtime has since 12.8
// (cudaLibraryLoadData). The simulated GPU has it in programs of 12.4 to 12.7 too, whose headers do
// not declare it; a real GPU needs the newer toolkit.
#if CUDART_VERSION < 12080

using cudaLibrary_t = struct CUlib_st*;
enum cudaJitOption : int;
enum cudaLibraryOption : int;

extern "C" {
cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code,
                                cudaJitOption* jit_options, void** jit_values, unsigned jit_count,
                                cudaLibraryOption* options, void** values, unsigned count);
cudaError_t cudaLibraryUnload(cudaLibrary_t library);
cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name);
}

#endif
