// See read_program.h. Everything a file can claim is checked where it is read; what holds between
// the parts of a Program is verify's.
#include "program/read_program.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "base/error.h"
#include "program/verify.h"

namespace tenon::program {
namespace {

struct Source {
  const file::Artifact& artifact;
  std::shared_ptr<const Weights> weights;
  bool checked = true;  // weights are to be, before they are read
  size_t budget = 0;    // bytes that may still be taken from the programs' part
  std::map<uint32_t, std::shared_ptr<const Code>> code = {};  // what was read of it

  void take(size_t bytes) {
    if (bytes > budget) throw user_error("it is larger inside than outside");
    budget -= bytes;
  }
  std::string text(const flatbuffers::String* from) {
    take(from->size() + sizeof(uint32_t));
    return from->str();
  }
  std::vector<std::byte> bytes(const flatbuffers::Vector<uint8_t>* from) {
    take(from->size() + sizeof(uint32_t));
    const auto* begin = reinterpret_cast<const std::byte*>(from->data());
    return {begin, begin + from->size()};
  }
  template <typename T, typename Make>
  auto list(const flatbuffers::Vector<T>* from, Make make) {
    take((from->size() + 1) * sizeof(uint32_t));
    std::vector<decltype(make(from->Get(0)))> items;
    items.reserve(from->size());
    for (flatbuffers::uoffset_t i = 0; i < from->size(); ++i)
      items.push_back(make(element(*from, i)));
    return items;
  }

 private:
  // The verifier lets vectors of 8-byte numbers begin at every fourth byte.
  template <typename T>
  static auto element(const flatbuffers::Vector<T>& from, flatbuffers::uoffset_t i) {
    if constexpr (std::is_arithmetic_v<T>) {
      T value;
      std::memcpy(&value, from.Data() + i * sizeof(T), sizeof(T));
      return flatbuffers::EndianScalar(value);
    } else {
      return from.Get(i);
    }
  }
};

// Of the text of a Dim: `(a + b)*(c + d)`, outside of names.
bool multiplies_sums(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i) i += text[i] == '\\' ? 1 : 0;
    } else if (text.substr(i).starts_with(")*(")) {
      return true;
    }
  }
  return false;
}

template <typename Enum>
Enum read_enum(uint8_t value, Enum last) {
  if (value > static_cast<uint8_t>(last)) throw user_error("it has an unknown kind {}", value);
  return static_cast<Enum>(value);
}

BufferRef read_ref(const file::BufferRef& from) {
  return {read_enum(from.kind(), BufferKind::Arena), from.index()};
}

template <typename T>
const T& at(const std::vector<T>& items, uint32_t number, const char* what) {
  if (number >= items.size()) throw user_error("it has no {} {}", what, number);
  return items[number];
}

// Programs of other variants have code that is never read.
std::shared_ptr<const Code> read_code(uint32_t number, Source& source) {
  if (number >= source.artifact.code()->size()) throw user_error("it has no kernel {}", number);
  std::shared_ptr<const Code>& known = source.code[number];
  if (known) return known;
  const file::Code& from = *source.artifact.code()->Get(number);
  auto code = std::make_shared<Code>();
  code->name = source.text(from.name());
  code->bytes = source.bytes(from.bytes());
  code->entry = from.entry();
  code->digest = code_digest(code->bytes);
  code->threads = from.threads();
  code->shared_bytes = from.shared_bytes();
  known = std::move(code);
  return known;
}

class ProgramReader {
 public:
  ProgramReader(const file::Program& from, Source& source);
  std::shared_ptr<const Program> read();

 private:
  using Numbers = flatbuffers::Vector<uint32_t>;
  const Dim& dim(uint32_t number) const { return at(dims_, number, "extent"); }
  std::vector<Dim> dims(const Numbers* from) {
    return source_.list(from, [&](uint32_t number) { return dim(number); });
  }
  std::vector<Symbol> symbols(const Numbers* from) {
    return source_.list(from, [&](uint32_t number) { return at(names_, number, "symbol"); });
  }
  TensorType type(const file::TensorType* from);
  IoSlot io(const file::IoSlot& from);
  ParamSlot param(const file::ParamSlot& from);
  ArenaBuffer arena(const file::ArenaBuffer& from) const;
  ArenaPlan plan(const file::ArenaPlan& from);
  Step step(const file::Step& from);
  HostStep host_step(const file::HostStep& from);
  std::vector<HostStep::Tensor> host_tensors(
      const flatbuffers::Vector<flatbuffers::Offset<file::HostTensor>>* from);

  const file::Program& from_;
  Source& source_;
  std::vector<Symbol> names_;
  std::vector<Dim> dims_;
};

ProgramReader::ProgramReader(const file::Program& from, Source& source)
    : from_(from), source_(source) {
  std::map<std::string, Symbol, std::less<>> by_name;
  names_ = source_.list(from.names(), [&](const file::Symbol* each) {
    const Symbol symbol(source_.text(each->name()), Bounds{each->least(), each->most()});
    by_name.emplace(symbol.name(), symbol);
    return symbol;
  });
  const auto find = [&](std::string_view name) {
    const auto found = by_name.find(name);
    if (found == by_name.end()) throw user_error("it has no symbol {}", name);
    return found->second;
  };
  dims_ = source_.list(from.dims(), [&](const flatbuffers::String* each) {
    const std::string text = source_.text(each);
    // We write sums: a product of sums is larger when it is multiplied out.
    if (multiplies_sums(text)) source_.take(text.size() * text.size() / 4);
    return Dim::parse(text, find);
  });
}

TensorType ProgramReader::type(const file::TensorType* from) {
  const std::string name = source_.text(from->dtype());
  const auto dtype = parse_dtype(name);
  if (!dtype) throw user_error("its dtype {} is not known", name);
  return {Shape(dims(from->shape())), *dtype};
}

IoSlot ProgramReader::io(const file::IoSlot& from) {
  IoSlot slot{source_.text(from.name()), type(from.type()), dims(from.strides()),
              dims(from.capacity()), from.late()};
  if (const file::State* state = from.state())
    slot.state = StateSlot{state->axis(), state->capacity(), dim(state->length())};
  return slot;
}

ParamSlot ProgramReader::param(const file::ParamSlot& from) {
  ParamSlot slot{source_.text(from.name()), type(from.type()), {}, {}};
  if (from.weight() < 0) return slot;
  const Weights& weights = *source_.weights;
  const auto& item = at(weights.items, static_cast<uint32_t>(from.weight()), "weight");
  slot.initial = item->bytes();
  if (source_.checked) {
    slot.owner = source_.weights;
    slot.check = item;
  } else {
    slot.owner = weights.file.owner;
  }
  return slot;
}

ArenaBuffer ProgramReader::arena(const file::ArenaBuffer& from) const {
  ArenaBuffer buffer{.bytes = dim(from.bytes()), .slot = from.slot(), .offset = dim(from.offset())};
  if (from.view()) buffer.view = View{read_ref(*from.view()->root()), dim(from.view()->offset())};
  return buffer;
}

ArenaPlan ProgramReader::plan(const file::ArenaPlan& from) {
  ArenaPlan plan;
  plan.slot_bytes = dims(from.slot_bytes());
  plan.slot_offsets = dims(from.slot_offsets());
  plan.slot_stages = source_.list(from.slot_stages(), [](int stage) { return stage; });
  plan.stage_bytes = dims(from.stage_bytes());
  plan.bytes = dim(from.bytes());
  plan.unshared_bytes = dim(from.unshared_bytes());
  plan.alignment = from.alignment();
  return plan;
}

Step ProgramReader::step(const file::Step& from) {
  Step step;
  step.code = static_cast<int>(std::min<uint32_t>(from.code(), INT32_MAX));
  step.buffers =
      source_.list(from.buffers(), [](const file::BufferRef* ref) { return read_ref(*ref); });
  step.writes = source_.list(from.writes(), [](uint8_t written) { return written != 0; });
  step.dims = dims(from.dims());
  step.grid = dim(from.grid());
  step.scratch_bytes = dim(from.scratch_bytes());
  step.flops = dim(from.flops());
  step.bytes = dim(from.bytes());
  step.kind = source_.text(from.kind());
  step.origin = source_.text(from.origin());
  step.in_place = source_.list(from.in_place(), [](const file::InPlace* each) {
    return std::pair<int, int>(each->result(), each->operand());
  });
  step.with_previous = from.with_previous();
  step.arithmetic = read_enum(from.arithmetic(), Arithmetic::Int8);
  return step;
}

std::vector<HostStep::Tensor> ProgramReader::host_tensors(
    const flatbuffers::Vector<flatbuffers::Offset<file::HostTensor>>* from) {
  return source_.list(from, [&](const file::HostTensor* each) {
    return HostStep::Tensor{read_ref(*each->buffer()), type(each->type())};
  });
}

HostStep ProgramReader::host_step(const file::HostStep& from) {
  HostStep step;
  step.kind = read_enum(from.kind(), HostKind::Loop);
  step.before = from.before();
  step.operands = host_tensors(from.operands());
  step.results = host_tensors(from.results());
  step.symbols = symbols(from.symbols());
  step.bodies = source_.list(from.bodies(), [&](const file::Program* body) {
    return ProgramReader(*body, source_).read();
  });
  step.carried = from.carried();
  step.origin = source_.text(from.origin());
  return step;
}

std::shared_ptr<const Program> ProgramReader::read() {
  auto program = std::make_shared<Program>();
  const auto io_slot = [&](const file::IoSlot* slot) { return io(*slot); };
  const auto any_step = [&](const file::Step* each) { return step(*each); };
  const Variant variant = read_variant(from_);
  program->device = variant.device;
  program->cuda_arch = variant.cuda_arch;
  program->cpu = variant.cpu;
  program->symbols = symbols(from_.symbols());
  program->given = symbols(from_.given());
  program->constraints = source_.list(from_.constraints(), [&](const file::Constraint* each) {
    return Constraint{read_enum(each->kind(), Constraint::Kind::Broadcastable), dim(each->left()),
                      dim(each->right()), source_.text(each->why())};
  });
  program->inputs = source_.list(from_.inputs(), io_slot);
  program->outputs = source_.list(from_.outputs(), io_slot);
  program->params =
      source_.list(from_.params(), [&](const file::ParamSlot* slot) { return param(*slot); });
  program->constants = source_.list(from_.constants(), [&](const file::ConstantSlot* slot) {
    return ConstantSlot{type(slot->type()), source_.bytes(slot->bytes())};
  });
  program->packed = source_.list(from_.packed(), [](int64_t bytes) { return PackedSlot{bytes}; });
  program->arena =
      source_.list(from_.arena(), [&](const file::ArenaBuffer* each) { return arena(*each); });
  program->plan = plan(*from_.plan());
  program->code =
      source_.list(from_.code(), [&](uint32_t number) { return read_code(number, source_); });
  program->prologue = source_.list(from_.prologue(), any_step);
  program->steps = source_.list(from_.steps(), any_step);
  program->host_steps = source_.list(from_.host_steps(),
                                     [&](const file::HostStep* each) { return host_step(*each); });
  verify(*program).throw_if_error();
  return program;
}

}  // namespace

Variant read_variant(const file::Program& from) {
  return {read_enum(from.device(), static_cast<DeviceKind>(kDeviceKinds - 1)),
          {read_enum(from.cpu_isa(), CpuIsa::Avx512), from.cpu_bf16(), from.cpu_vnni()},
          from.cuda_arch()};
}

std::shared_ptr<const Program> read_program(const file::Artifact& from, size_t variant,
                                            std::shared_ptr<const Weights> weights, bool checked,
                                            size_t budget) {
  Source source{from, std::move(weights), checked, budget};
  const file::Program& program =
      *from.programs()->Get(static_cast<flatbuffers::uoffset_t>(variant));
  return ProgramReader(program, source).read();
}

}  // namespace tenon::program
