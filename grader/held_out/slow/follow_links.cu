// Walks along chains of linked nodes and mixes the numbers of the nodes into a hash.
#include <cstdio>
#include <numeric>
#include <vector>

__global__ void walk(const int *next, const int *heads, const unsigned *salt, unsigned *hashes,
                     int chains, int hops)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned h, s;
    int at, hop;

    if (c >= chains)
        return;
    at = heads[c];
    s = salt[c & 63];
    h = 2166136261u;
    for (hop = 0; hop < hops; hop++) {
        h ^= (unsigned)at + s;
        h *= 16777619u;
        h ^= h >> 13;
        at = next[at];
    }
    hashes[c] = h ^ (unsigned)at;
}

int main()
{
    const int nodes = 1 << 20, chains = 2000, hops = 150;
    std::vector<int> order(nodes), next(nodes), heads(chains);
    std::vector<unsigned> salt(64), hashes(chains);
    std::iota(order.begin(), order.end(), 0);
    unsigned state = 17;
    for (int i = nodes - 1; i > 0; i--) {
        state = state * 1664525u + 1013904223u;
        std::swap(order[i], order[(state >> 4) % (i + 1)]);
    }
    for (int i = 0; i < nodes; i++)
        next[order[i]] = order[(i + 1) % nodes];
    for (int c = 0; c < chains; c++)
        heads[c] = order[(c * 499) % nodes];
    for (int i = 0; i < 64; i++)
        salt[i] = i * 2654435761u;
    int *d_next, *d_heads;
    unsigned *d_salt, *d_hashes;
    cudaMalloc(&d_next, nodes * 4);
    cudaMalloc(&d_heads, chains * 4);
    cudaMalloc(&d_salt, 64 * 4);
    cudaMalloc(&d_hashes, chains * 4);
    cudaMemcpy(d_next, next.data(), nodes * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(d_heads, heads.data(), chains * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(d_salt, salt.data(), 64 * 4, cudaMemcpyHostToDevice);
    walk<<<(chains + 63) / 64, 64>>>(d_next, d_heads, d_salt, d_hashes, chains, hops);
    int wrong = cudaMemcpy(hashes.data(), d_hashes, chains * 4, cudaMemcpyDeviceToHost) != cudaSuccess;
    for (int c = 0; c < chains; c++) {
        int node = heads[c];
        unsigned h = 2166136261u;
        for (int hop = 0; hop < hops; hop++) {
            h ^= (unsigned)node + salt[c & 63];
            h *= 16777619u;
            h ^= h >> 13;
            node = next[node];
        }
        wrong += hashes[c] != (h ^ (unsigned)node);
    }
    cudaFree(d_next);
    cudaFree(d_heads);
    cudaFree(d_salt);
    cudaFree(d_hashes);
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
