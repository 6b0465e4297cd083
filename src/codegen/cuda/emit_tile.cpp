// Tiles by fma: for each k, the elements of a and b that a thread's part of the tile needs come
// from shared memory into registers, four at once where they lie so, and all products follow.
#include <algorithm>
#include <array>

#include "base/error.h"
#include "codegen/cuda/emitter.h"
#include "codegen/text/scalar_ops.h"

namespace tenon::codegen::cuda {

namespace {

// The different Dims among those of the elements, and which one each element has.
struct Distinct {
  std::vector<Dim> dims;
  std::vector<size_t> of_element;

  Distinct(const Dim& d, const Symbol& element, int64_t elements) {
    for (int64_t e = 0; e < elements; ++e) {
      const Dim at = d.substitute(element, e);
      const auto found = std::find(dims.begin(), dims.end(), at);
      of_element.push_back(static_cast<size_t>(found - dims.begin()));
      if (found == dims.end()) dims.push_back(at);
    }
  }
};

constexpr int64_t kWidestLoad = 16;  // bytes

}  // namespace

// The operand at each value of its row or column symbol.
std::vector<std::string> Emitter::tile_operand(const kernel::Expr& load, const Symbol& symbol,
                                               const std::vector<Dim>& values, DType dtype) {
  const std::string type = scalar_type(load.dtype);
  const size_t most = static_cast<size_t>(kWidestLoad / size_of(load.dtype));
  std::vector<Dim> offsets;
  for (const Dim& value : values) offsets.push_back(known(load.index.substitute(symbol, value)));
  const auto run_at = [&](size_t first) {
    if (first + most > offsets.size() || !is_multiple(offsets[first], static_cast<int64_t>(most)))
      return false;
    for (size_t i = 1; i < most; ++i) {
      if (offsets[first + i] != offsets[first] + static_cast<int64_t>(i)) return false;
    }
    return true;
  };
  Value result{load.dtype, {}};
  for (size_t i = 0; i < offsets.size();) {
    const bool wide = most > 1 && run_at(i);
    const std::string name = fresh("v");
    if (wide) {
      line("const Lanes<{0}, {1}> {2} = load_lanes<{0}, {1}>({3} + {4}, true);", type, most, name,
           storage(load.buffer).base, dim(offsets[i]));
      for (size_t lane = 0; lane < most; ++lane)
        result.lanes.push_back(fmt::format("{}.at[{}]", name, lane));
    } else {
      line("const {} {} = {}[{}];", type, name, storage(load.buffer).base, dim(offsets[i]));
      result.lanes.push_back(name);
    }
    i += wide ? most : 1;
  }
  return emit_cast(result, dtype).lanes;
}

void Emitter::emit_tile_fma(const kernel::TileMma& tile) {
  const DType dtype = buffer(tile.acc).dtype;
  const Distinct rows(known(tile.row), tile.element, tile.elements),
      cols(known(tile.col), tile.element, tile.elements);
  const std::string& k = names_.of(tile.k.name());
  line("#pragma unroll 4");
  open(fmt::format("for (i32 {0} = 0; {0} < {1}; ++{0})", k, tile.depth));
  bind(tile.thread, "tid", false);
  bind(tile.k, k, false);
  const auto a = tile_operand(*tile.a, tile.i, rows.dims, dtype);
  const auto b = tile_operand(*tile.b, tile.j, cols.dims, dtype);
  for (size_t e = 0; e < static_cast<size_t>(tile.elements); ++e) {
    const std::string sum = fmt::format("{}[{}]", storage(tile.acc).base, e);
    line("{} = {};", sum,
         scalar_op_text(kernel::Op::Fma, dtype,
                        std::array{a[rows.of_element[e]], b[cols.of_element[e]], sum}));
  }
  unbind(tile.k);
  unbind(tile.thread);
  close();
}

}  // namespace tenon::codegen::cuda
