// Tenon: describe or load a model, compile it once, run it at any shape.
//
//   tenon::Session session;
//   tenon::CompiledGraph encoder = session.compile_onnx("encoder.onnx");
//   std::vector<int64_t> ids = {101, 2023, 102}, ones = {1, 1, 1}, zeros = {0, 0, 0};
//   auto outputs = encoder.run_typed({{"input_ids", tenon::view(ids, {1, 3})},
//                               {"attention_mask", tenon::view(ones, {1, 3})},
//                               {"token_type_ids", tenon::view(zeros, {1, 3})}});
//   std::span<const float> hidden = outputs[0].as<float>();
#pragma once

#include "tenon/aot_cache.h"
#include "tenon/artifact.h"
#include "tenon/binding_manifest.h"
#include "tenon/bucket.h"
#include "tenon/bucket_plan.h"
#include "tenon/bucketed_compile_cache.h"
#include "tenon/compile_cache.h"
#include "tenon/compile_options.h"
#include "tenon/compiled_graph.h"
#include "tenon/compiled_handle.h"
#include "tenon/component_handle.h"
#include "tenon/custom_function.h"
#include "tenon/device.h"
#include "tenon/dim_binding.h"
#include "tenon/dynamic_dim_compile_cache.h"
#include "tenon/error.h"
#include "tenon/execution_plan.h"
#include "tenon/graph.h"
#include "tenon/graph_module.h"
#include "tenon/handle.h"
#include "tenon/hir.h"
#include "tenon/lazy_tensor.h"
#include "tenon/lir.h"
#include "tenon/log.h"
#include "tenon/model_compile_pipeline.h"
#include "tenon/model_component.h"
#include "tenon/model_source.h"
#include "tenon/optimizer.h"
#include "tenon/padded_rows.h"
#include "tenon/param_store.h"
#include "tenon/pipeline.h"
#include "tenon/session.h"
#include "tenon/specialization.h"
#include "tenon/tensor.h"
#include "tenon/trace.h"
#include "tenon/tuning.h"
#include "tenon/variable.h"
