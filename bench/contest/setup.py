"""Compiles the peers' workers against the headers and libraries of their packages."""

import pathlib
import shutil
import subprocess
import sysconfig

from contest.paths import BIN, CONTEST, LIB, MODELS, NUMBERS, ROOT, log

PACKAGES = pathlib.Path(sysconfig.get_paths()["purelib"])


def onnxruntime_flags():
    """The package has the library without its short name."""
    library = next((PACKAGES / "onnxruntime/capi").glob("libonnxruntime.so.*"))
    link = LIB / "libonnxruntime.so.1"
    link.unlink(missing_ok=True)
    link.symlink_to(library)
    return [link, f"-Wl,-rpath,{link.parent}"]


def openvino_flags():
    folder = PACKAGES / "openvino"
    library = next((folder / "libs").glob("libopenvino_c.so.*"))
    return [f"-I{folder / 'include'}", library, f"-Wl,-rpath,{library.parent}"]


def onednn_flags():
    """A package of files for an environment's lib and include, as are the libraries that it needs."""
    environment = pathlib.Path(sysconfig.get_paths()["data"])
    return [f"-I{environment / 'include'}", environment / "lib/libdnnl.so.3", "-Wl,--disable-new-dtags", f"-Wl,-rpath,{environment / 'lib'}",
            f"-Wl,-rpath-link,{environment / 'lib'}"]


WORKERS = {"onnxruntime": ("onnxruntime.cpp", onnxruntime_flags), "openvino": ("openvino.cpp", openvino_flags),
           "onednn": ("onednn.cpp", onednn_flags), "read_probe": ("read_probe.cpp", lambda: ["-pthread"])}


def compile_worker(name, source, flags):
    program, sources = BIN / name, [CONTEST / source, CONTEST / "worker.h"]
    if program.exists() and program.stat().st_mtime > max(each.stat().st_mtime for each in sources):
        return
    log(f"compiling {source}")
    compiler = shutil.which("g++") or "c++"
    subprocess.run([compiler, "-std=c++20", "-O2", sources[0], "-o", program, *flags()], check=True)


def prepare(ours):
    for folder in (MODELS, NUMBERS, BIN, LIB):
        folder.mkdir(parents=True, exist_ok=True)
    for name, (source, flags) in WORKERS.items():
        compile_worker(name, source, flags)
    for program in [ours] if ours else [ROOT / "build/release/bin" / each for each in ("bench_worker", "make_encoder")]:
        if not pathlib.Path(program).exists():
            raise SystemExit(f"bench/peers: {program} is missing: ninja -C build/release bench_worker make_encoder")
