// Linked with a libcudart.so.11.0 that is nowhere to be found when it runs.
extern "C" int cudaDeviceSynchronize();

int main() { return cudaDeviceSynchronize(); }
