// Turns a colour picture grey and counts how often each of 16 grey levels occurs.
#include <cstdio>
#include <vector>

typedef unsigned int u32;

__device__ static u32 luma(u32 rgba)
{
    u32 r = rgba & 255, g = (rgba >> 8) & 255, b = (rgba >> 16) & 255;
    return (77 * r + 150 * g + 29 * b) >> 8;
}

__global__ void to_grey(const u32 *picture, u32 *grey, u32 *levels, u32 words)
{
    u32 step = gridDim.x * blockDim.x;
    for (u32 w = blockIdx.x * blockDim.x + threadIdx.x; w < words; w += step) {
        u32 packed = 0;
        for (u32 p = 0; p < 4; p++) {
            u32 pixel = picture[p * words + w];
            u32 value = luma(pixel);
            packed |= value << (8 * p);
            atomicAdd(&levels[value >> 4], 1u);
        }
        grey[w] = packed;
    }
}

int main()
{
    const u32 words = 60000, pixels = 4 * words;
    std::vector<u32> picture(pixels), grey(words), levels(16), expected(16);
    u32 state = 99;
    for (u32 &p : picture) {
        state = state * 1664525u + 1013904223u;
        p = 0x00606060u + ((state >> 9) & 0x00070707u);
    }
    u32 *d_picture, *d_grey, *d_levels;
    cudaMalloc(&d_picture, pixels * 4);
    cudaMalloc(&d_grey, words * 4);
    cudaMalloc(&d_levels, 64);
    cudaMemcpy(d_picture, picture.data(), pixels * 4, cudaMemcpyHostToDevice);
    cudaMemset(d_levels, 0, 64);
    to_grey<<<118, 256>>>(d_picture, d_grey, d_levels, words);
    int wrong = cudaMemcpy(grey.data(), d_grey, words * 4, cudaMemcpyDeviceToHost) != cudaSuccess;
    cudaMemcpy(levels.data(), d_levels, 64, cudaMemcpyDeviceToHost);
    for (u32 w = 0; w < words; w++) {
        u32 packed = 0;
        for (u32 p = 0; p < 4; p++) {
            u32 c = picture[p * words + w];
            u32 v = (77 * (c & 255) + 150 * ((c >> 8) & 255) + 29 * ((c >> 16) & 255)) >> 8;
            packed |= v << (8 * p);
            expected[v >> 4]++;
        }
        wrong += packed != grey[w];
    }
    wrong += expected != levels;
    cudaFree(d_picture); cudaFree(d_grey); cudaFree(d_levels);
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
