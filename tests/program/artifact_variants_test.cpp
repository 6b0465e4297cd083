// One file with programs for several devices: weights once, inside or beside, and the programs as
// they were.
#include <gtest/gtest.h>

#include <cstring>

#include "program/artifact.h"
#include "program/artifact_header.h"
#include "program/check_params.h"
#include "program/print.h"
#include "tests/program/some_program.h"

namespace tenon::program {
namespace {

std::string joined(std::span<const std::string_view> pieces) {
  std::string all;
  for (const std::string_view piece : pieces) all += piece;
  return all;
}

FileBytes file_of(const std::string& bytes, const char* name) {
  return {std::as_bytes(std::span(bytes)), nullptr, name};
}

// some_program for two CPUs and a GPU; each has a copy of the weight "w".
class ArtifactVariants : public ::testing::Test {
 protected:
  ArtifactVariants() {
    programs_[1].cpu = {CpuIsa::Avx512, true};
    programs_[2].cpu = {};
    programs_[2].device = DeviceKind::Cuda;
    programs_[2].cuda_arch = 90;
    for (int i = 0; i < 3; ++i) {
      copies_[i] = {1, -2, 3.5F, 4};
      programs_[i].params[0].initial = std::as_bytes(std::span(copies_[i]));
      programs_[i].code[0] = some_code("of this one alone", 10 + static_cast<size_t>(i));
    }
  }

  std::vector<float> copies_[3];
  Program programs_[3] = {some_program(), some_program(), some_program()};
  const Program* list_[3] = {&programs_[0], &programs_[1], &programs_[2]};
};

TEST_F(ArtifactVariants, ComeBackTheSameWithOneCopyOfTheWeights) {
  const std::string bytes = ArtifactBytes(list_).joined();
  const auto artifact = Artifact::open(file_of(bytes, "file")).take();
  ASSERT_EQ(artifact->variants().size(), 3U);
  EXPECT_EQ(to_string(artifact->variants()[0]), "cpu avx2");
  EXPECT_EQ(to_string(artifact->variants()[1]), "cpu avx512+bf16");
  EXPECT_EQ(to_string(artifact->variants()[2]), "cuda 9.0");
  EXPECT_EQ(artifact->weight_bytes(), 64U);
  const auto weights = artifact->weights().take();
  for (size_t i = 0; i < 3; ++i) {
    const auto program = artifact->program(i, weights).take();
    EXPECT_EQ(print(*program), print(programs_[i]));
    EXPECT_EQ(program->code[0]->bytes.size(), 10 + i);
    EXPECT_EQ(program->params[0].initial.data(), weights->items[0]->bytes().data());
  }
}

TEST_F(ArtifactVariants, KeepAParameterTwiceWhereItIsStoredInTwoWays) {
  const std::vector<uint16_t> halves = {1, 2, 3, 4};
  programs_[1].params[0].type.dtype = DType::F16;
  programs_[1].params[0].initial = std::as_bytes(std::span(halves));
  const std::string bytes = ArtifactBytes(list_).joined();
  const auto artifact = Artifact::open(file_of(bytes, "file")).take();
  const auto weights = artifact->weights().take();
  ASSERT_EQ(weights->items.size(), 2U);
  const auto second = artifact->program(1, weights).take()->params[0].initial;
  ASSERT_EQ(second.size(), 8U);
  EXPECT_EQ(std::memcmp(second.data(), halves.data(), 8), 0);
}

TEST_F(ArtifactVariants, HaveTheirWeightsBesideWhenAsked) {
  const ArtifactBytes both(list_, WeightsPart::Beside);
  const std::string bytes = both.joined(), beside = joined(both.weight_pieces());
  EXPECT_EQ(beside.size(), 64U + 64U);  // a header, and 16 bytes padded
  const auto artifact = Artifact::open(file_of(bytes, "file")).take();
  EXPECT_TRUE(artifact->has_weights_beside());
  const auto weights = artifact->weights(file_of(beside, "beside")).take();
  const auto program = artifact->program(2, weights).take();
  EXPECT_EQ(std::memcmp(program->params[0].initial.data(), copies_[0].data(), 16), 0);
  EXPECT_TRUE(check_params(*program, 1).ok());
}

class WeightsBeside : public ArtifactVariants {
 protected:
  std::string error_with(const std::string& beside) {
    const ArtifactBytes both(list_, WeightsPart::Beside);
    const std::string bytes = both.joined();
    const auto artifact = Artifact::open(file_of(bytes, "file")).take();
    const auto weights = artifact->weights(file_of(beside, "beside"));
    if (!weights.ok()) return weights.error().what();
    const auto program = artifact->program(0, weights.value()).take();
    const Status status = check_params(*program, 1);
    return status.ok() ? "" : status.error().what();
  }
  std::string good() { return joined(ArtifactBytes(list_, WeightsPart::Beside).weight_pieces()); }
};

TEST_F(WeightsBeside, ThatAreForeignCutOrAbsentAreErrors) {
  const std::string front = "[file] the artifact cannot be used: ";
  EXPECT_EQ(error_with(good()), "");
  EXPECT_EQ(error_with(""), front + "it has no weights: beside has 0 bytes");
  EXPECT_EQ(error_with(std::string(200, 'x')),
            front + "it has no weights: beside is no file of weights");
  for (size_t length = 64; length < 128; ++length)
    EXPECT_EQ(error_with(good().substr(0, length)),
              fmt::format("{}beside is cut: {} bytes are not what its header says", front, length));
  const std::string ours = good();
  copies_[0][2] = copies_[1][2] = copies_[2][2] = 7;
  EXPECT_EQ(error_with(ours), front + "beside has the weights of another artifact");
}

TEST_F(WeightsBeside, HaveNoBitThatCouldFlipUnseen) {
  const std::string bytes = good();
  for (size_t i = 0; i < 64 + 16; ++i) {  // the header and the one weight
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ (1 << i % 8));
    EXPECT_NE(error_with(changed), "") << i;
  }
}

}  // namespace
}  // namespace tenon::program
