#include "simgpu/device/host_objects.h"

#include "simgpu/device/timeline.h"

namespace simgpu {

double HostObjects::note(const protocol::HostCall& call) {
  const auto drop_one = [](std::size_t& count) { count -= count > 0 ? 1 : 0; };
  switch (call.kind) {
    case protocol::HostCallKind::register_memory:
      ++registrations_;
      return ApiCost::kAllocate + ApiCost::pinning(call.bytes);
    case protocol::HostCallKind::unregister_memory:
      drop_one(registrations_);
      return ApiCost::kAllocate;
    case protocol::HostCallKind::create_blas_handle:
      ++blas_handles_;
      return ++blas_handles_of_call_ == 1 ? 0 : ApiCost::kBlasHandle;
    case protocol::HostCallKind::destroy_blas_handle:
      drop_one(blas_handles_);
      return 0;
    case protocol::HostCallKind::ask_properties:
      return ApiCost::kProperties;
    default:
      return 0;
  }
}

void HostObjects::note_maker(std::string_view object, const std::vector<HostFrame>& called_from) {
  const auto known = makers_.find(object);
  if (known == makers_.end()) {
    makers_.emplace(object, called_from);
  } else if (known->second != called_from) {
    known->second.reset();
  }
}

std::vector<HostFrame> HostObjects::maker_of(std::string_view object) const {
  const auto known = makers_.find(object);
  if (known == makers_.end()) return {};
  return known->second.value_or(std::vector<HostFrame>{});
}

}  // namespace simgpu
