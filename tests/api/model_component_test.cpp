// ModelComponent: its extents, and a key that is the same everywhere.
#include "tenon/model_component.h"

#include <gtest/gtest.h>

#include <set>

#include "tenon/tenon.h"
#include "tests/error_of.h"

namespace tenon {
namespace {

const ModelComponent kPrefill = {
    .variant = {.batch = 1, .seq = 128, .past = 0, .phase = ModelPhase::Prefill}};

TEST(ModelComponent, BindsTheExtentsOfItsVariant) {
  EXPECT_EQ(kPrefill.dim_binding(), (DimBinding{{"batch", 1}, {"seq", 128}, {"past", 0}}));
  const ModelComponent encoder{.variant = {.batch = 4, .seq = 32}};
  EXPECT_EQ(encoder.variant.phase, ModelPhase::Encoder);
  EXPECT_EQ(encoder.dim_binding(), DimBinding::batch_seq(4, 32));
  const ModelComponent decode{.variant = {.batch = 2, .phase = ModelPhase::Decode}};
  EXPECT_EQ(decode.dim_binding(), DimBinding::batch_seq(2, 1));  // of a model without such a dim
}

TEST(ModelComponent, AnEncoderHasNoPast) {
  const ModelComponent wrong{.variant = {.past = 3, .phase = ModelPhase::Encoder}};
  EXPECT_EQ(user_error_of([&] { wrong.dim_binding(); }),
            "[ModelComponent] an encoder has no past, the variant says 3");
}

// By Python's hashlib: the first 8 bytes, the lowest first, of blake2b(digest_size=32) over
// "component", batch, seq, past or -1, the phase's name, the dispatch policy's number or -1; texts
// with their lengths before them, numbers as 8 bytes, the lowest first.
TEST(ModelComponent, ItsKeyIsTheSameInEveryProcess) {
  EXPECT_EQ(kPrefill.cache_key(), 0x3e9c0e7364c5248bu);
  const ModelComponent encoder{.variant = {.batch = 4, .seq = 32},
                               .dispatch = DispatchPolicy::ForceCommon};
  EXPECT_EQ(encoder.cache_key(), 0xa8b24a195d612bceu);
  const ModelComponent decode{
      .variant = {.batch = 2, .seq = 1, .past = 127, .phase = ModelPhase::Decode},
      .dispatch = DispatchPolicy::PreferNative};
  EXPECT_EQ(decode.cache_key(), 0x589923a8d1e65aabu);
}

TEST(ModelComponent, EveryFieldButTheModeMakesAnotherKey) {
  std::set<uint64_t> keys = {kPrefill.cache_key()};
  const auto changed = [&](const auto& change) {
    ModelComponent other = kPrefill;
    change(other);
    EXPECT_NE(other, kPrefill);
    return other.cache_key();
  };
  keys.insert(changed([](ModelComponent& c) { c.variant.batch = 128; }));
  keys.insert(changed([](ModelComponent& c) { c.variant.seq = 1; }));
  keys.insert(changed([](ModelComponent& c) { c.variant.past = 1; }));
  keys.insert(changed([](ModelComponent& c) { c.variant.past = std::nullopt; }));
  keys.insert(changed([](ModelComponent& c) { c.variant.phase = ModelPhase::Decode; }));
  keys.insert(changed([](ModelComponent& c) { c.dispatch = DispatchPolicy::PreferNative; }));
  keys.insert(changed([](ModelComponent& c) { c.dispatch = DispatchPolicy::ForceNative; }));
  EXPECT_EQ(keys.size(), 8u);
  EXPECT_EQ(changed([](ModelComponent& c) { c.mode = CompileMode::Lazy; }), kPrefill.cache_key());
}

TEST(ModelComponent, PhasesHaveNames) {
  EXPECT_EQ(to_string(ModelPhase::Prefill), "prefill");
  EXPECT_EQ(to_string(ModelPhase::Decode), "decode");
  EXPECT_EQ(to_string(ModelPhase::Encoder), "encoder");
}

}  // namespace
}  // namespace tenon
