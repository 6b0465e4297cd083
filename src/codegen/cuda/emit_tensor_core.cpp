// Tiles by tensor cores: 16 x 8 results from 16 values of k of 16 bits, or 8 of f32. Operands of 16
// bits come from shared memory as 8 x 8 matrices, four by one instruction, turned around on the way
// where they do not lie along k; those of f32 element by element, rounded to 10 bits.
#include "base/error.h"
#include "codegen/cuda/emitter.h"
#include "codegen/cuda/fragments.h"

namespace tenon::codegen::cuda {

namespace {

constexpr int64_t kMatrixRow = 16;  // bytes, and their alignment

}  // namespace

// The address that a thread gives for the four matrices of a load: `outer` and `k` of its row.
std::string Emitter::matrix_address(const kernel::Expr& load, const OperandStrides& strides,
                                    const std::string& outer, const std::string& k) {
  const bool along_k = strides.k == 1;
  const int64_t size = size_of(load.dtype), row = along_k ? strides.outer : strides.k;
  TENON_CHECK((along_k || strides.outer == 1) && row * size % kMatrixRow == 0 &&
                  is_multiple(strides.first, kMatrixRow / size),
              "kernel {}: an operand of a tile lies at {}", kernel_.name, load.index.to_string());
  const std::string name = fresh("m");
  line("const u32 {} = shared_address({} + ({} + ({}) * {} + ({}) * {}));", name,
       storage(load.buffer).base, dim(strides.first), outer, strides.outer, k, strides.k);
  return name;
}

void Emitter::emit_tensor_core(const kernel::TileMma& tile) {
  const DType dtype = tile.a->dtype;
  TENON_CHECK(buffer(tile.acc).dtype == DType::F32 && tile.b->dtype == dtype,
              "kernel {}: no tensor cores for {} and {}", kernel_.name, to_string(dtype),
              to_string(tile.b->dtype));
  const Fragments fragments = fragments_of(tile, kernel_.name);
  open();
  line("const i32 lane = tid % 32, warp = tid / 32;");
  line("const i32 row = warp / {0} * {1}, col = warp % {0} * {2};", fragments.warps_across,
       fragments.rows(), fragments.cols());
  bind(tile.thread, "tid", false);
  dtype == DType::F32 ? emit_tf32(tile, fragments) : emit_halves(tile, fragments);
  unbind(tile.thread);
  close();
}

void Emitter::emit_products(const kernel::TileMma& tile, const Fragments& fragments,
                            const std::string& a, const std::string& b) {
  const DType dtype = tile.a->dtype;
  const std::string_view suffix = dtype == DType::F32 ? "tf32" : to_string(dtype);
  for (int64_t i = 0; i < fragments.down; ++i) {
    for (int64_t n = 0; n < fragments.across; ++n) {
      const int64_t j = i % 2 == 0 ? n : fragments.across - 1 - n;  // back and forth
      line("multiply_{}({} + {}, {}[{}], {}[{}]);", suffix, storage(tile.acc).base,
           (i * fragments.across + j) * 4, a, i, b, j);
    }
  }
}

// Matrices 0 to 3 of a: rows 0, 8, 0, 8 of k 0, 0, 8, 8; of b: columns 0, 0, 8, 8 of k 0, 8, 0, 8.
// Thread l gives the address of row l % 8 of matrix l / 8.
void Emitter::emit_halves(const kernel::TileMma& tile, const Fragments& fragments) {
  constexpr int64_t kStep = 16;
  TENON_CHECK(tile.depth % kStep == 0, "kernel {}: a tile of depth {}", kernel_.name, tile.depth);
  const OperandStrides a = operand_strides(*tile.a, tile.i, tile.k, kernel_.name),
                       b = operand_strides(*tile.b, tile.j, tile.k, kernel_.name);
  const bool a_along_k = a.k == 1, b_along_k = b.k == 1;
  const std::string from_a =
      a_along_k ? matrix_address(*tile.a, a, "row + lane % 16", "lane / 16 * 8")
                : matrix_address(*tile.a, a, "row + lane / 8 % 2 * 8", "lane % 8 + lane / 16 * 8");
  const std::string from_b =
      b_along_k ? matrix_address(*tile.b, b, "col + lane % 8 + lane / 16 * 8", "lane / 8 % 2 * 8")
                : matrix_address(*tile.b, b, "col + lane / 16 * 8", "lane % 16");
  line("u32 a[2][{}][4], b[2][{}][2];", fragments.down, fragments.across);
  const auto load = [&](int64_t k) {
    const int64_t half = k / kStep % 2;
    for (int64_t i = 0; i < fragments.down; ++i) {
      line("load_matrices{}(a[{}][{}], {} + {});", a_along_k ? "" : "_turned", half, i, from_a,
           2 * (i * 16 * a.outer + k * a.k));
    }
    for (int64_t j = 0; j < fragments.across; j += 2) {
      const bool two = j + 1 == fragments.across;
      line("load_{}matrices{}(b[{}][{}], {} + {});", two ? "two_" : "", b_along_k ? "" : "_turned",
           half, j, from_b, 2 * (j * 8 * b.outer + k * b.k));
    }
  };
  // What the next step multiplies is loaded while this one does.
  load(0);
  for (int64_t k = 0; k < tile.depth; k += kStep) {
    if (k + kStep < tile.depth) load(k + kStep);
    const int64_t half = k / kStep % 2;
    emit_products(tile, fragments, fmt::format("a[{}]", half), fmt::format("b[{}]", half));
  }
}

void Emitter::emit_tf32(const kernel::TileMma& tile, const Fragments& fragments) {
  constexpr int64_t kStep = 8;
  TENON_CHECK(tile.depth % kStep == 0, "kernel {}: a tile of depth {}", kernel_.name, tile.depth);
  const OperandStrides a = operand_strides(*tile.a, tile.i, tile.k, kernel_.name),
                       b = operand_strides(*tile.b, tile.j, tile.k, kernel_.name);
  line("const f32 *const from_a = {} + ({} + (row + lane / 4) * {} + lane % 4 * {});",
       storage(tile.a->buffer).base, dim(a.first), a.outer, a.k);
  line("const f32 *const from_b = {} + ({} + (col + lane / 4) * {} + lane % 4 * {});",
       storage(tile.b->buffer).base, dim(b.first), b.outer, b.k);
  for (int64_t k = 0; k < tile.depth; k += kStep) {
    open();
    line("u32 a[{}][4], b[{}][2];", fragments.down, fragments.across);
    for (int64_t i = 0; i < fragments.down; ++i) {
      for (int64_t r = 0; r < 4; ++r) {
        line("a[{}][{}] = tf32_of_f32(from_a[{}]);", i, r,
             (i * 16 + r % 2 * 8) * a.outer + (k + r / 2 * 4) * a.k);
      }
    }
    for (int64_t j = 0; j < fragments.across; ++j) {
      for (int64_t r = 0; r < 2; ++r) {
        line("b[{}][{}] = tf32_of_f32(from_b[{}]);", j, r, j * 8 * b.outer + (k + r * 4) * b.k);
      }
    }
    emit_products(tile, fragments, "a", "b");
    close();
  }
}

}  // namespace tenon::codegen::cuda
