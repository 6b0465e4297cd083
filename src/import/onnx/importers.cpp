// The table itself, found by domain and op in one hash lookup.
#include "import/onnx/importers.h"

#include <unordered_map>

#include "import/onnx/ops/control.h"
#include "import/onnx/ops/index.h"
#include "import/onnx/ops/math.h"
#include "import/onnx/ops/microsoft.h"
#include "import/onnx/ops/quantize.h"
#include "import/onnx/ops/sequence.h"
#include "import/onnx/ops/spatial.h"
#include "import/onnx/ops/transformer.h"

namespace tenon::onnx {
namespace {

using namespace importers;

constexpr Importer kImporters[] = {
#define IMPORT(domain, op, since, least, most, outputs, function, signature) \
  {domain, #op, since, least, most, outputs, function, signature},
#include "import/onnx/importers.def"
#undef IMPORT
};

}  // namespace

const Importer* find_importer(std::string_view domain, std::string_view op) {
  static const auto kTable = [] {
    std::unordered_multimap<std::string_view, const Importer*> table;
    for (const Importer& row : kImporters) table.emplace(row.op, &row);
    return table;
  }();
  auto [first, last] = kTable.equal_range(op);
  for (; first != last; ++first) {
    if (first->second->domain == domain) return first->second;
  }
  return nullptr;
}

}  // namespace tenon::onnx
