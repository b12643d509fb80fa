// Smooths an image along its rows and stores it turned, for a pass along the columns.
#include <cmath>
#include <cstdio>
#include <vector>

#define W 480
#define H 400
#define TAPS 5

__constant__ float c_taps[TAPS];

__global__ void smooth_turned(const float *in, float *turned, float gain)
{
    const int x = blockIdx.x * 32 + threadIdx.x;
    const int y = blockIdx.y * 8 + threadIdx.y;
    float acc = 0.0f;
    float most = 0.0f;
    int t;

    if (x >= W || y >= H)
        return;
    for (t = 0; t < TAPS; t++) {
        int xx = x + t - TAPS / 2;
        if (xx < 0)
            xx = 0;
        if (xx > W - 1)
            xx = W - 1;
        const float v = in[y * W + xx];
        acc += c_taps[t] * v;
        most = fmaxf(most, v);
    }
    if (acc > most)
        acc = most;
    turned[x * H + y] = gain * acc;
}

int main()
{
    std::vector<float> in(W * H), out(W * H);
    const float taps[TAPS] = {0.1f, 0.2f, 0.4f, 0.2f, 0.1f};
    unsigned state = 7;
    for (auto &v : in) {
        state = state * 1664525u + 1013904223u;
        v = (state >> 8) / 16777216.0f;
    }
    float *d_in, *d_out;
    cudaMalloc(&d_in, in.size() * 4);
    cudaMalloc(&d_out, in.size() * 4);
    cudaMemcpy(d_in, in.data(), in.size() * 4, cudaMemcpyHostToDevice);
    cudaMemcpyToSymbol(c_taps, taps, sizeof taps);
    smooth_turned<<<dim3((W + 31) / 32, (H + 7) / 8), dim3(32, 8)>>>(d_in, d_out, 2.0f);
    cudaError_t error = cudaMemcpy(out.data(), d_out, out.size() * 4, cudaMemcpyDeviceToHost);
    int wrong = error != cudaSuccess;
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            double acc = 0;
            float most = 0;
            for (int t = 0; t < TAPS; t++) {
                int xx = std::min(std::max(x + t - TAPS / 2, 0), W - 1);
                acc += taps[t] * in[y * W + xx];
                most = std::max(most, in[y * W + xx]);
            }
            double expected = 2.0 * std::min<double>(acc, most);
            wrong += std::fabs(out[x * H + y] - expected) > 1e-4;
        }
    cudaFree(d_in); cudaFree(d_out);
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
