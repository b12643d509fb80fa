#include "grader/device/sim/sim_origins.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace rooflab {
namespace {

/// The tensors of a call by their addresses.
class PlacedTensors {
 public:
  PlacedTensors(const std::vector<Tensor>& tensors, const std::vector<std::uint64_t>& addresses) {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const auto elements = static_cast<std::uint64_t>(tensors[i].elements());
      const std::uint64_t size = elements == 0 ? 0 : tensors[i].bytes() / elements;
      places_.push_back({addresses[i], elements, size});
      if (size != 0) numbers_[addresses[i]] = i;
    }
  }

  /// Nothing of an element that does not exist.
  simgpu::ByteRange bytes_of(const ElementPlace& element) const {
    if (element.tensor >= places_.size()) return {};
    const Place& place = places_[element.tensor];
    if (element.element >= place.elements) return {};
    return {place.address + element.element * place.size, place.size};
  }

  /// Calls visit(element) for those that have bytes in a range; for none outside of all tensors.
  template <class Visit>
  void each_element(std::uint64_t address, std::uint64_t bytes, Visit visit) const {
    const auto above = numbers_.upper_bound(address);
    if (above == numbers_.begin() || bytes == 0) return;
    const auto [base, tensor] = *std::prev(above);
    const Place& place = places_[tensor];
    const std::uint64_t last = (address - base + bytes - 1) / place.size;
    for (std::uint64_t i = (address - base) / place.size; i <= last && i < place.elements; ++i) {
      visit(ElementPlace{tensor, i});
    }
  }

 private:
  struct Place {
    std::uint64_t address = 0, elements = 0, size = 0;
  };
  std::vector<Place> places_;
  std::map<std::uint64_t, std::size_t> numbers_;
};

ElementOrigin origin_of(const ElementPlace& element, const simgpu::MemoryOrigin& seen,
                        const PlacedTensors& tensors) {
  ElementOrigin origin{.of = element,
                       .stores = seen.stores,
                       .file = seen.file,
                       .line = seen.line,
                       .block = seen.block,
                       .thread = seen.thread,
                       .reads = {},
                       .complete = seen.complete};
  std::map<std::tuple<ElementPlace, std::string, unsigned>, ElementRead> reads;
  for (const simgpu::OriginRead& read : seen.reads) {
    tensors.each_element(read.address, read.bytes, [&](const ElementPlace& from) {
      const auto [known, is_new] = reads.try_emplace({from, read.file, read.line});
      if (is_new) {
        known->second = {from, read.times, read.file, read.line, read.block, read.thread};
      } else {
        known->second.times += read.times;
      }
    });
  }
  for (auto& [key, read] : reads) origin.reads.push_back(std::move(read));
  return origin;
}

}  // namespace

bool follows_origins(const RunRequest& request) {
  return !request.origins_of.empty() && !request.sampled && !request.problem->vast;
}

std::vector<ElementOrigin> origins_of(simgpu::DeviceProcess& device, const RunRequest& request,
                                      const std::vector<std::uint64_t>& addresses) {
  const PlacedTensors tensors(request.problem->tensors, addresses);
  std::vector<simgpu::ByteRange> places;
  for (const ElementPlace& element : request.origins_of) {
    places.push_back(tensors.bytes_of(element));
  }
  const std::vector<simgpu::MemoryOrigin> seen = device.origins_of(places);
  std::vector<ElementOrigin> origins;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    origins.push_back(origin_of(request.origins_of[i], seen[i], tensors));
  }
  return origins;
}

}  // namespace rooflab
