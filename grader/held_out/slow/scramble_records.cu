// Copies records of 24 bytes, scrambled with a key for each, and adds up their lengths.
#include <cstdio>
#include <vector>

typedef unsigned char byte;

#define RECORD 24

__global__ void scramble(const byte *from, const byte *keys, const int *lengths, byte *to,
                         int *sums, int records)
{
    __shared__ int block_sum;
    if (threadIdx.x == 0)
        block_sum = 0;
    __syncthreads();

    const int r = blockIdx.x * blockDim.x + threadIdx.x;
    int length = 0;
    if (r < records) {
        const byte key = keys[r];
        length = lengths[r];
        for (int b = 0; b < RECORD; b++) {
            to[r * RECORD + b] = from[r * RECORD + b] ^ key;
        }
    }
    for (int d = 16; d > 0; d /= 2)
        length += __shfl_down_sync(0xffffffff, length, d);
    if (threadIdx.x % 32 == 0)
        atomicAdd(&block_sum, length);
    __syncthreads();
    if (threadIdx.x == 0)
        sums[blockIdx.x] = block_sum;
}

int main()
{
    const int records = 50000, threads = 224, blocks = (records + threads - 1) / threads;
    std::vector<byte> from(records * RECORD), keys(records), to(records * RECORD);
    std::vector<int> lengths(records), sums(blocks);
    for (size_t i = 0; i < from.size(); i++)
        from[i] = (byte)(i * 7 + i / 256);
    for (int r = 0; r < records; r++) {
        keys[r] = (byte)(r * 13);
        lengths[r] = r % 25;
    }
    byte *d_from, *d_keys, *d_to;
    int *d_lengths, *d_sums;
    cudaMalloc(&d_from, from.size());
    cudaMalloc(&d_keys, records);
    cudaMalloc(&d_to, to.size());
    cudaMalloc(&d_lengths, records * 4);
    cudaMalloc(&d_sums, blocks * 4);
    cudaMemcpy(d_from, from.data(), from.size(), cudaMemcpyHostToDevice);
    cudaMemcpy(d_keys, keys.data(), records, cudaMemcpyHostToDevice);
    cudaMemcpy(d_lengths, lengths.data(), records * 4, cudaMemcpyHostToDevice);
    scramble<<<blocks, threads>>>(d_from, d_keys, d_lengths, d_to, d_sums, records);
    int wrong = cudaMemcpy(to.data(), d_to, to.size(), cudaMemcpyDeviceToHost) != cudaSuccess;
    cudaMemcpy(sums.data(), d_sums, blocks * 4, cudaMemcpyDeviceToHost);
    for (size_t i = 0; i < to.size(); i++)
        wrong += to[i] != (byte)(from[i] ^ keys[i / RECORD]);
    long long total = 0, expected = 0;
    for (int s : sums)
        total += s;
    for (int l : lengths)
        expected += l;
    wrong += total != expected;
    cudaFree(d_from);
    cudaFree(d_keys);
    cudaFree(d_to);
    cudaFree(d_lengths);
    cudaFree(d_sums);
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
