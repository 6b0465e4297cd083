// `tenon tune`: a table, a file that later commands take, and going on after an interrupt.
#include "tests/cli/cli.h"

namespace tenon {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class CliTune : public Cli {
 protected:
  static std::string tune(const std::string& more) {
    return "tune " + path("model.onnx") + " --dim batch=2 --dim seq=8 --timeout 0.3 --width 1 " +
           more;
  }
  static constexpr const char* kRun = " --dim batch=2 --dim seq=8";
};

TEST_F(CliTune, WritesAFileThatRunsTakeWithTheSameResults) {
  const std::string file = path("model.tuned");
  const Outcome first = tenon(tune("-o " + file));
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_TRUE(contains(first.out, "default ms")) << first.out;
  EXPECT_TRUE(contains(first.err, "tenon: kernel 1 of ")) << first.err;
  EXPECT_EQ(contents(file).find("tenon tuned schedules 1\n"), 0U);
  const std::string run = "run " + path("model.onnx") + kRun;
  EXPECT_EQ(tenon(run + " --tuned " + file).out, tenon(run).out);
  EXPECT_EQ(tenon(run + " --optimizer beam:1").out, tenon(run).out);
  // Nothing is left to search.
  const Outcome again = tenon(tune(""));
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_FALSE(contains(again.err, "tried")) << again.err;
  EXPECT_TRUE(contains(again.out, "known")) << again.out;
  EXPECT_EQ(tenon("cache ls").code, 0);
}

// Each kernel is kept as soon as it is tuned.
TEST_F(CliTune, GoesOnAfterAnInterrupt) {
  const std::string cache = "TENON_CACHE_DIR=" + path("interrupted") + " ";
  const std::string err = path("first.err");
  const std::string script = cache + TENON_BINARY_DIR + "/bin/tenon " + tune("") + " >" +
                             path("first.out") + " 2>" + err + " & pid=$!; " +
                             "until grep -q 'kernel 1 of' " + err +
                             " || ! kill -0 $pid; do sleep 0.02; done; kill -INT $pid; wait $pid";
  EXPECT_EQ(WEXITSTATUS(std::system(script.c_str())), 1) << contents(err);
  EXPECT_TRUE(contains(contents(err), "tenon: interrupted: ")) << contents(err);
  EXPECT_TRUE(contains(contents(path("first.out")), "default ms"));
  const Outcome second = tenon(tune(""), cache);
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_TRUE(contains(second.out, "known")) << second.out;
  EXPECT_FALSE(contains(second.err, "kernel 1 of")) << second.err;
}

TEST_F(CliTune, RefusesWhatMakesNoSense) {
  const std::string model = "tune " + path("model.onnx");
  expect_error(model + " --dim seq=8,16", 2, "tune takes one extent");
  expect_error(model + " --dim rows=8", 1, "there is no dim \"rows\"");
  expect_error(model + " --width 0", 2, "'0' is not a whole number from 1 to 64");
  expect_error(model + " --timeout 0", 2, "'0' is not a number");
  expect_error("tune " + path("nothing.onnx"), 1, "nothing.onnx");
  const std::string run = "run " + path("model.onnx") + kRun;
  expect_error(run + " --tuned " + path("model.onnx"), 1, "these are no tuned schedules");
  expect_error(run + " --tuned " + path("nothing"), 1, "cannot be read");
  expect_error(run + " --optimizer beam:99", 2, "width 99 does not lie in 1..64");
}

}  // namespace
}  // namespace tenon
