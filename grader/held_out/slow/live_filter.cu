// A filter of 17 taps over a signal that the author once meant to have changed by the host.
#include <cmath>
#include <cstdio>
#include <vector>

enum { RADIUS = 8, TAPS = 2 * RADIUS + 1 };

__constant__ float c_tap[TAPS];

__global__ void filter(const volatile float *live, const float *window, float *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float shape = window[i];
    float acc = 0.0f;
    float energy = 0.0f;
    for (int t = 0; t < TAPS; t++) {
        const float sample = live[i + t];
        acc += c_tap[t] * sample;
        energy += sample * sample;
    }
    const float level = energy * (1.0f / TAPS);
    out[i] = level > 0.01f ? acc * shape : 0.0f;
}

int main()
{
    const int n = 150000;
    std::vector<float> signal(n + 2 * RADIUS), window(n), out(n);
    float tap[TAPS];
    for (int t = 0; t < TAPS; t++)
        tap[t] = 1.0f / (1 + abs(t - RADIUS));
    for (int i = 0; i < n + 2 * RADIUS; i++)
        signal[i] = ((i * 53) % 307) / 307.0f - 0.5f;
    for (int i = 0; i < n; i++)
        window[i] = 1.0f - 0.5f * i / n;
    float *d_signal, *d_window, *d_out;
    cudaMalloc(&d_signal, signal.size() * 4);
    cudaMalloc(&d_window, n * 4);
    cudaMalloc(&d_out, n * 4);
    cudaMemcpy(d_signal, signal.data(), signal.size() * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(d_window, window.data(), n * 4, cudaMemcpyHostToDevice);
    cudaMemcpyToSymbol(c_tap, tap, sizeof tap);
    filter<<<(n + 255) / 256, 256>>>(d_signal, d_window, d_out, n);
    int wrong = cudaMemcpy(out.data(), d_out, n * 4, cudaMemcpyDeviceToHost) != cudaSuccess;
    for (int i = 0; i < n; i++) {
        double acc = 0, energy = 0;
        for (int t = 0; t < TAPS; t++) {
            acc += tap[t] * signal[i + t];
            energy += signal[i + t] * signal[i + t];
        }
        double expected = energy / (double)TAPS > 0.01 ? acc * window[i] : 0.0;
        wrong += std::fabs(out[i] - expected) > 1e-4;
    }
    cudaFree(d_signal); cudaFree(d_window); cudaFree(d_out);
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
