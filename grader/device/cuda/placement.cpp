#include "grader/device/cuda/placement.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "grader/contract/elements.h"

namespace rooflab {
namespace {

constexpr std::size_t kPageBytes = 2U << 20;

std::size_t whole_pages(std::size_t bytes) {
  return (std::max<std::size_t>(bytes, 1) + kPageBytes - 1) / kPageBytes * kPageBytes;
}

/// In which the buffer is read that empties the L2: what it is read into takes a thirty-second part
/// of the L2, and no more of it has to be written back.
constexpr std::size_t kPieces = 64;

}  // namespace

SharedPool::SharedPool(std::shared_ptr<const CudaApi> api, int device)
    : api_(std::move(api)), pool_(api_->make_pool(device)) {}

SharedPool::~SharedPool() { api_->release_pool(pool_); }

PlacedBuffer::PlacedBuffer(std::shared_ptr<const CudaApi> api, const SharedPool& pool,
                           std::size_t bytes)
    : api_(std::move(api)),
      address_(api_->allocate(pool.get(), whole_pages(bytes))),
      bytes_(bytes) {}

PlacedBuffer::PlacedBuffer(PlacedBuffer&& other) noexcept
    : api_(std::move(other.api_)),
      address_(std::exchange(other.address_, nullptr)),
      bytes_(other.bytes_) {}

PlacedBuffer::~PlacedBuffer() {
  if (address_ != nullptr) {
    api_->release(address_);
  }
}

Placement::Placement(const std::shared_ptr<const CudaApi>& api, int device, const Problem& problem,
                     std::size_t l2_bytes, bool timed)
    : api_(api),
      problem_(problem),
      pool_(api, device),
      descriptor_(api->export_pool(pool_.get())),
      flush_(api, pool_, 2 * l2_bytes) {
  if (timed) {
    own_pool_.emplace(api, device);
    scratch_.emplace(api, *own_pool_, flush_.bytes() / kPieces);
  }
  for (const Tensor& tensor : problem.tensors) {
    buffers_.emplace_back(api, pool_, tensor.bytes());
    auto& taken = taken_.emplace_back();
    const bool is_written = tensor.role != Role::input && tensor.bytes() > 0;
    if (timed && is_written) taken.emplace(api, *own_pool_, tensor.bytes());
  }
  api_->synchronize();  // another process may touch it only from here on
}

double Placement::prepare(const Problem& contents) const {
  const bool fits = std::ranges::equal(
      contents.tensors, buffers_, {}, [](const Tensor& tensor) { return tensor.bytes(); },
      [](const PlacedBuffer& buffer) { return buffer.bytes(); });
  if (!fits) {
    throw DeviceError("inputs drawn anew have other sizes than the case; look at the oracle");
  }
  api_->reset_persisting_lines();
  write(contents);
  api_->synchronize();
  const auto start = std::chrono::steady_clock::now();
  flush_l2();
  api_->synchronize();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
      .count();
}

void Placement::write(const Problem& contents) const {
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const Tensor& tensor = contents.tensors[i];
    const PlacedBuffer& buffer = buffers_[i];
    if (buffer.bytes() == 0) {
      continue;
    }
    if (tensor.role == Role::output) {
      api_->fill(buffer.address(), std::to_integer<int>(kPoisonByte), buffer.bytes());
    } else {
      api_->copy_to_device(buffer.address(), tensor.data.data(),
                           std::min(tensor.data.size(), buffer.bytes()));
    }
  }
}

/// Writing drives out what was there, and leaves lines that the next call's would have to wait for
/// until they are written back. Reading as much again replaces them by lines that need not be.
void Placement::flush_l2() const {
  if (flush_.bytes() == 0) return;
  api_->fill(flush_.address(), 0, flush_.bytes());
  if (!scratch_) return;
  const auto* from = static_cast<const std::byte*>(flush_.address());
  const std::size_t piece = flush_.bytes() / kPieces;
  for (std::size_t i = 0; i < kPieces; ++i) {
    api_->copy_on_device(scratch_->address(), from + i * piece, piece);
  }
}

std::vector<std::vector<std::byte>> Placement::read_from(
    const std::function<const PlacedBuffer&(std::size_t)>& buffer_of) const {
  api_->synchronize();
  std::vector<std::vector<std::byte>> contents;
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const PlacedBuffer& buffer = buffer_of(i);
    auto& bytes = contents.emplace_back(buffer.bytes());
    if (!bytes.empty()) {
      api_->copy_to_host(bytes.data(), buffer.address(), bytes.size());
    }
  }
  return contents;
}

std::vector<std::vector<std::byte>> Placement::read() const {
  return read_from([this](std::size_t i) -> const PlacedBuffer& { return buffers_[i]; });
}

void Placement::take_outputs() const {
  for (std::size_t i = 0; i < taken_.size(); ++i) {
    if (!taken_[i]) continue;
    api_->copy_on_device(taken_[i]->address(), buffers_[i].address(), taken_[i]->bytes());
  }
  api_->synchronize();
}

std::vector<std::vector<std::byte>> Placement::read_taken() const {
  return read_from([this](std::size_t i) -> const PlacedBuffer& {
    return taken_[i] ? *taken_[i] : buffers_[i];
  });
}

bool Placement::has_unwritten(std::mt19937_64& random) const {
  for (std::size_t i = 0; i < taken_.size(); ++i) {
    const Tensor& tensor = problem_.tensors[i];
    const std::size_t size = size_of(tensor.type);
    if (tensor.role != Role::output || tensor.type == ElementType::int32 || !taken_[i]) {
      continue;
    }
    const std::size_t element = random() % (taken_[i]->bytes() / size);
    std::vector<std::byte> bytes(size);
    api_->copy_to_host(bytes.data(),
                       static_cast<const std::byte*>(taken_[i]->address()) + element * size, size);
    if (is_poisoned(tensor.type, bytes, 0)) {
      return true;
    }
  }
  return false;
}

Call Placement::call(const RunRequest& request) const {
  Call call;
  call.library = request.library.string();
  call.entry = request.entry;
  call.parameters = problem_.parameters;
  call.measured = request.timed;
  call.gives_stream = request.gives_stream;
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    call.tensors[problem_.tensors[i].name] = {0, api_->export_pointer(buffers_[i].address())};
  }
  return call;
}

Call Placement::call_on_own_memory(const RunRequest& request) const {
  Call call = this->call(request);
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const Tensor& tensor = problem_.tensors[i];
    TensorPlace& place = call.tensors[tensor.name];
    place.own_bytes = std::max<std::size_t>(buffers_[i].bytes(), 1);
    place.is_copied = tensor.role != Role::output && buffers_[i].bytes() > 0;
  }
  return call;
}

}  // namespace rooflab
