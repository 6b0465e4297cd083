// A program goes into bytes and comes back the same; bytes that are anything else give an error,
// and never more than that.
#include "program/artifact.h"

#include <gtest/gtest.h>

#include <cstring>

#include "program/artifact_header.h"
#include "program/check_params.h"
#include "program/print.h"
#include "tests/program/some_program.h"

namespace tenon::program {
namespace {

Result<std::shared_ptr<const Program>> read(const std::string& bytes) {
  return read_artifact(std::as_bytes(std::span(bytes)), nullptr, {.name = "file"});
}

std::string some_bytes() {
  static const Program kProgram = some_program();
  return ArtifactBytes(kProgram).joined();
}

// Bytes whose header is right about them: what the digest would else hide.
std::string with_right_digest(std::string bytes) {
  ArtifactHeader header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  const auto all = std::as_bytes(std::span(bytes));
  header.digest = header.compute_digest(all.subspan(sizeof(header), header.program_bytes)).bytes;
  std::memcpy(bytes.data(), &header, sizeof(header));
  return bytes;
}

TEST(Artifact, ComesBackTheSame) {
  const Program before = some_program();
  ASSERT_TRUE(verify(before).ok()) << verify(before).error().what();
  const std::string bytes = ArtifactBytes(before).joined();
  const auto after = read(bytes);
  ASSERT_TRUE(after.ok()) << after.error().what();
  EXPECT_EQ(print(*after.value()), print(before));
  EXPECT_EQ(ArtifactBytes(*after.value()).joined(), bytes);
}

TEST(Artifact, KeepsWhatIsNotPrinted) {
  const std::string bytes = some_bytes();
  const auto read_back = read(bytes);
  ASSERT_TRUE(read_back.ok());
  const Program& p = *read_back.value();
  EXPECT_EQ(p.cpu.isa, CpuIsa::Avx2);
  EXPECT_EQ(p.symbols[0].bounds(), (Bounds{1, 64}));
  EXPECT_EQ(p.host_steps[0].symbols[0].bounds(), (Bounds{0, 100}));
  EXPECT_EQ(p.code[0]->entry, 3);
  EXPECT_EQ(p.code[0]->digest, code_digest(p.code[0]->bytes));
  EXPECT_EQ(p.code[1], p.host_steps[1].bodies[0]->code[0]) << "each kernel once";
  EXPECT_EQ(p.constants[0].bytes, std::vector<std::byte>(8, std::byte{7}));
  EXPECT_EQ(p.packed[0].bytes, 256);
  EXPECT_EQ(p.steps[0].dims[1], floordiv(Dim(p.symbols[0]) + 3, 4));
  EXPECT_TRUE(p.steps[2].with_previous);
  EXPECT_TRUE(p.params[1].initial.empty());
  EXPECT_EQ(p.outputs[1].late, 4);
}

TEST(Artifact, HasItsWeightsAlignedAndInPlace) {
  const std::string bytes = some_bytes();
  const auto read_back = read(bytes);
  ASSERT_TRUE(read_back.ok());
  const auto weights = read_back.value()->params[0].initial;
  const auto offset = reinterpret_cast<const char*>(weights.data()) - bytes.data();
  EXPECT_EQ(offset % 64, 0);
  const float expected[] = {1, -2, 3.5F, 4};
  ASSERT_EQ(weights.size(), sizeof(expected));
  EXPECT_EQ(std::memcmp(weights.data(), expected, sizeof(expected)), 0);
}

TEST(Artifact, EveryPrefixIsAnError) {
  const std::string bytes = some_bytes();
  for (size_t length = 0; length < bytes.size(); ++length) {
    const auto result = read(bytes.substr(0, length));
    ASSERT_FALSE(result.ok()) << length;
    EXPECT_EQ(result.error().kind(), ErrorKind::User);
  }
  EXPECT_FALSE(read(bytes + '\0').ok());
}

TEST(Artifact, EveryFlippedBitIsAnError) {
  std::string bytes = some_bytes();
  const size_t padding = kArtifactAlignment - 4 * sizeof(float);  // after the one weight
  for (size_t i = 0; i < bytes.size() - padding; ++i) {
    bytes[i] = static_cast<char>(bytes[i] ^ (1 << i % 8));
    ASSERT_FALSE(read(bytes).ok()) << i;
    bytes[i] = static_cast<char>(bytes[i] ^ (1 << i % 8));
  }
}

// The digest does not save us here: the bytes are wrong, and it is right about them.
TEST(Artifact, EveryChangedByteBehindARightDigestIsAnErrorOrASoundProgram) {
  const std::string bytes = some_bytes();
  int sound = 0;
  for (size_t i = sizeof(ArtifactHeader); i < bytes.size(); ++i) {
    for (const int value : {0, 0xff}) {
      std::string changed = bytes;
      changed[i] = static_cast<char>(value);
      const auto result = read(with_right_digest(std::move(changed)));
      if (!result.ok()) {
        EXPECT_EQ(result.error().kind(), ErrorKind::User) << result.error().what();
        continue;
      }
      ++sound;
      EXPECT_TRUE(verify(*result.value()).ok());
      EXPECT_FALSE(print(*result.value()).empty());
    }
  }
  EXPECT_GT(sound, 0);  // names and code may be anything
}

TEST(Artifact, DamageOfWeightsIsFoundWhenTheyAreAskedAbout) {
  std::string bytes = some_bytes();
  bytes[bytes.size() - kArtifactAlignment] ^= 1;  // the first byte of the one weight
  EXPECT_STREQ(read(bytes).error().what(),
               "[file] the artifact cannot be used: its weights are damaged");
  const auto artifact = Artifact::open({std::as_bytes(std::span(bytes)), nullptr, "file"}).take();
  const auto checked = artifact->program(0, artifact->weights().take()).take();
  EXPECT_STREQ(check_params(*checked, 1).error().what(),
               "[file] parameter \"w\" is damaged: its digest is another");
  const auto trusted = read_artifact(std::as_bytes(std::span(bytes)), nullptr,
                                     {.name = "file", .check_weights = false});
  ASSERT_TRUE(trusted.ok());
  EXPECT_TRUE(check_params(*trusted.value(), 1).ok());
}

TEST(Artifact, SaysThatItIsOfAnotherVersion) {
  std::string bytes = some_bytes();
  bytes[8] = 9;
  EXPECT_STREQ(read(with_right_digest(bytes)).error().what(),
               "[file] the artifact cannot be used: it has version 9 of the format, this is a "
               "reader of version 4: a newer Tenon is needed");
  bytes[8] = 2;
  EXPECT_STREQ(read(with_right_digest(bytes)).error().what(),
               "[file] the artifact cannot be used: it has version 2 of the format, this is a "
               "reader of version 4: compile anew");
}

TEST(Artifact, LongTextsOfManyStepsComeBack) {
  Program before = some_program();
  before.steps[1].origin = std::string(5000, 'o');
  before.symbols = {Symbol(std::string(3000, 'n') + "(a + b)*(c + d)", {1, 64})};
  before.steps[1].grid = before.symbols[0];
  for (int i = 0; i < 300; ++i) before.steps.push_back(before.steps[1]);
  const std::string bytes = ArtifactBytes(before).joined();
  const auto after = read(bytes);
  ASSERT_TRUE(after.ok()) << std::string(after.error().what()).substr(0, 200);
  EXPECT_EQ(after.value()->steps.back().origin, before.steps[1].origin);
  EXPECT_EQ(after.value()->steps.back().grid, Dim(before.symbols[0]));
}

// A branch around `inner`, which takes and gives what it does.
std::shared_ptr<const Program> around(const std::shared_ptr<const Program>& inner) {
  auto outer = std::make_shared<Program>(*inner);
  const TensorType rows = inner->inputs[0].type, condition{{}, DType::Bool};
  outer->constants = {{condition, std::vector<std::byte>(1)}};
  outer->arena = {{rows.bytes()}};
  const HostStep::Tensor given{{BufferKind::Input, 0}, rows};
  outer->host_steps = {{.kind = HostKind::If,
                        .before = 0,
                        .operands = {{{BufferKind::Constant, 0}, condition}, given, given},
                        .results = {{{BufferKind::Arena, 0}, rows}},
                        .bodies = {inner, some_body({rows}, {rows}, inner->code[0])},
                        .origin = "[if]"}};
  outer->plan = {};
  plan_simply(*outer);
  return outer;
}

TEST(Artifact, BodiesInsideOfEachOtherComeBackUpToALimit) {
  const TensorType rows{{4}, DType::F32};
  std::shared_ptr<const Program> program = some_body({rows}, {rows}, some_code("copy", 20));
  for (int i = 0; i < kMostBodies; ++i) program = around(program);
  const auto after = read(ArtifactBytes(*program).joined());
  ASSERT_TRUE(after.ok()) << after.error().what();
  EXPECT_EQ(print(*after.value()), print(*program));
  EXPECT_THROW(ArtifactBytes(*around(program)), Error);
}

TEST(Artifact, NeedsACpuThatHasWhatItsCodeUses) {
  CpuInfo cpu;
  cpu.isa = CpuIsa::Avx2;
  cpu.name = "Some CPU";
  EXPECT_TRUE(check_cpu({CpuIsa::Avx2}, cpu).ok());
  EXPECT_STREQ(check_cpu({CpuIsa::Avx512, true}, cpu).error().what(),
               "it was compiled for CPUs with avx512, avx512_bf16; this one (Some CPU, avx2) "
               "cannot run it");
}

}  // namespace
}  // namespace tenon::program
