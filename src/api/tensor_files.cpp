// Lazy tensors to and from NumPy's files.
#include "api/npy.h"
#include "lazy/apply.h"
#include "tenon/lazy_tensor.h"

namespace tenon {

Tensor Tensor::load_npy(const std::string& path) {
  const npy::Array array = npy::read(path);
  return from_bytes(array.bytes, array.dtype, Extents(array.shape.begin(), array.shape.end()));
}

void Tensor::save_npy(const std::string& path) const {
  const OwnedTensor values = lazy::named("save_npy", [&] { return to_owned(); });
  npy::write(path, values.dtype, values.shape, values.bytes.data());
}

}  // namespace tenon
