#include "simgpu/model/memory_order.h"

namespace simgpu::model {

bool may_load(const InstructionInfo& access) {
  using enum InstructionClass;
  const bool loads = access.cls == global_load || access.cls == shared_load ||
                     access.cls == local_load || access.cls == generic_access;
  return loads && !access.only_stores && !access.reads_unchanged;
}

bool may_meet(const InstructionInfo& store, const InstructionInfo& load, bool same_base) {
  using enum InstructionClass;
  const bool any_space = store.cls == generic_access || load.cls == generic_access;
  const bool same_space = (store.cls == global_store && load.cls == global_load) ||
                          (store.cls == shared_store && load.cls == shared_load) ||
                          (store.cls == local_store && load.cls == local_load);
  if (!any_space && !same_space) return false;
  if (store.shared_array != 0 && load.shared_array != 0 &&
      store.shared_array != load.shared_array) {
    return false;
  }
  if (!same_base || store.access_bytes == 0 || load.access_bytes == 0) return true;
  return store.address_offset < load.address_offset + load.access_bytes &&
         load.address_offset < store.address_offset + store.access_bytes;
}

}  // namespace simgpu::model
