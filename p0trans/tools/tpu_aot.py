"""StableHLO compiled for a TPU that is not there, by libtpu through jax.

jax with libtpu and torch_xla want an environment each. So this file is also a script:
`compile_for_tpu` runs it with the Python of jax's environment, where p0trans need not be. It
imports the standard library and, in the process of that Python alone, jax; what it uses of jax
that is not public is all in `_compiled`, and the extra `tpu-aot` pins jax's version.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

NEEDED = ("jax", "libtpu")
JAX_VERSION = "0.10.2"

GIB = 2**30
HBM = {
    "TPU v2": 16 * GIB,
    "TPU v3": 32 * GIB,
    "TPU v4": 32 * GIB,
    "TPU v5 lite": 16 * GIB,
    "TPU v5": 95 * GIB,
    "TPU v6 lite": 32 * GIB,
    "TPU7x": 192 * GIB,
}
"""Bytes of memory of a chip, by jax's name of its kind. Source: the pages v2, v3, v4, v5e,
v5p, v6e and tpu7x of https://docs.cloud.google.com/tpu/docs; libtpu keeps a part for itself."""

_ENVIRONMENT = {
    # Otherwise libtpu asks Google Cloud which machine it is on, and waits for an answer.
    "TPU_SKIP_MDS_QUERY": "1",
    # jax is not to look for a TPU.
    "JAX_PLATFORMS": "cpu",
    "TPU_LOG_DIR": "disabled",
}
_OUT_OF_MEMORY = "RESOURCE_EXHAUSTED"


class TpuError(Exception):
    """Why nothing was compiled, as one sentence."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What a compiled program costs, as libtpu counts it after its optimizations.

    `flops` and `bytes_accessed` are of one call; the others are bytes of memory on one device.
    """

    flops: float
    bytes_accessed: float
    arguments: int
    outputs: int
    temporaries: int
    code: int

    @property
    def memory(self) -> int:
        """Bytes that must be there at the same time."""
        return self.arguments + self.outputs + self.temporaries + self.code


@dataclass(frozen=True, slots=True)
class Report:
    """What became of one compilation.

    The program runs on one of the `devices`. Of a chip with several, each has an equal part of the
    memory, `hbm` bytes; None for a kind that HBM lacks. `usage` is None, and `refusal` says why in
    libtpu's words, when libtpu found no room for the program.
    """

    topology: str
    device_kind: str
    devices: int
    jax: str
    libtpu: str
    hbm: int | None
    usage: Usage | None
    refusal: str | None

    @property
    def fits(self) -> bool:
        return self.usage is not None and (self.hbm is None or self.usage.memory <= self.hbm)


def missing() -> str | None:
    """One sentence about what this Python lacks to compile for a TPU, or None."""
    lacking = [name for name in NEEDED if find_spec(name) is None]
    if not lacking:
        return None
    return (
        f"compiling for a TPU needs {' and '.join(lacking)}: pip install 'p0trans[tpu-aot]' in an "
        "environment without torch_xla, and name its Python with --tpu-python"
    )


def compile_for_tpu(stablehlo: str, topology: str, python: str | None = None) -> Report:
    """Compile a module of StableHLO for one device of `topology`, such as `v5e:2x2`.

    `python` is the interpreter that has jax and libtpu, this one when it is None. Raises TpuError.
    """
    try:
        done = subprocess.run(
            # -P: the files beside this one are no modules of that Python.
            [python or sys.executable, "-P", __file__, topology],
            input=stablehlo,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            env={**os.environ, **_ENVIRONMENT},
            check=False,
        )
    except OSError as error:
        raise TpuError(f"{python} cannot be run: {error.strerror}") from error
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        last = done.stderr.strip().rpartition("\n")[2] or f"exit status {done.returncode}"
        raise TpuError(f"the compiler for TPUs broke off: {last}") from None
    if "error" in answer:
        raise TpuError(answer["error"])
    usage = answer.pop("usage")
    return Report(**answer, usage=usage and Usage(**usage))


def render_json(name: str, report: Report) -> str:
    """One object on a line: the fields of Report, `name` and `fits`."""
    return json.dumps({"name": name, **asdict(report), "fits": report.fits}) + "\n"


def render_text(name: str, report: Report) -> str:
    """A table of what the program called `name` costs, and whether it fits."""
    where = f"{report.device_kind}, one of {report.devices} devices of {report.topology}"
    lines = [f"{name} for {where} (jax {report.jax}, libtpu {report.libtpu})"]
    if report.usage is not None:
        usage = report.usage
        rows = {
            "FLOPs": f"{usage.flops:,.0f}",
            "bytes accessed": f"{usage.bytes_accessed:,.0f}",
            "arguments": f"{usage.arguments:,} bytes",
            "outputs": f"{usage.outputs:,} bytes",
            "temporaries": f"{usage.temporaries:,} bytes",
            "code": f"{usage.code:,} bytes",
            "memory in all": f"{usage.memory:,} bytes",
        }
        lines += [f"  {what:<15}{amount:>24}" for what, amount in rows.items()]
    lines.append(_verdict(report))
    return "".join(f"{line}\n" for line in lines)


def _verdict(report: Report) -> str:
    if report.usage is None:
        return f"It does not fit: {report.refusal}"
    if report.hbm is None:
        return "libtpu found room for it; how much memory the device has is not known."
    percent = 100 * report.usage.memory / report.hbm
    does = "fits" if report.fits else "does not fit"
    return f"It {does}: it takes {percent:.3g}% of the {report.hbm / GIB:g} GiB of a device."


def _compiled(stablehlo: str, topology: str) -> Report:
    """`compile_for_tpu` in the process that has jax."""
    from jax._src.lib import xla_client
    from jax.errors import JaxRuntimeError
    from jax.experimental import topologies
    from jax.extend.mlir import ir
    from jax.interpreters.mlir import make_ir_context

    # A host has four chips unless told otherwise, and then no topology has fewer.
    single = set(topology.partition(":")[2].split("x")) == {"1"}
    bounds = {"chips_per_host_bounds": (1, 1, 1)} if single else {}
    try:
        found = topologies.get_topology_desc(topology, "tpu", **bounds)
    except JaxRuntimeError as error:
        raise TpuError(f"libtpu has no topology {topology}: {_first_line(error)}") from error
    devices: list[Any] = found.devices
    try:
        with make_ir_context():
            module = ir.Module.parse(stablehlo)
    except ir.MLIRError as error:
        _, _, where = str(error).partition('"-":')
        where = where.partition("\n")[0]
        raise TpuError(f"the text is no StableHLO: {where or _first_line(error)}") from error
    usage = refusal = None
    try:
        executable = devices[0].client.compile(
            module, xla_client.DeviceList((devices[0],)), xla_client.CompileOptions()
        )
        usage = _usage(executable)
    except JaxRuntimeError as error:
        refusal = _first_line(error)
        if not refusal.startswith(_OUT_OF_MEMORY):
            raise TpuError(f"libtpu does not compile it: {refusal}") from error
        refusal = refusal.removeprefix(f"{_OUT_OF_MEMORY}: ")
    kind: str = devices[0].device_kind
    chips = len({tuple(device.coords) for device in devices})
    hbm = HBM[kind] * chips // len(devices) if kind in HBM else None
    versions = {name: version(name) for name in NEEDED}
    return Report(topology, kind, len(devices), **versions, hbm=hbm, usage=usage, refusal=refusal)


def _usage(executable: Any) -> Usage:
    memory = executable.get_compiled_memory_stats()
    cost: Mapping[str, float] = executable.cost_analysis()
    return Usage(
        # A program without any has no such entry.
        flops=cost.get("flops", 0.0),
        bytes_accessed=cost.get("bytes accessed", 0.0),
        arguments=memory.argument_size_in_bytes,
        # An output that takes the place of an argument needs no memory of its own.
        outputs=memory.output_size_in_bytes - memory.alias_size_in_bytes,
        temporaries=memory.temp_size_in_bytes,
        code=memory.generated_code_size_in_bytes,
    )


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]


def _answer(stablehlo: str, topology: str) -> Mapping[str, Any]:
    """A Report, or `error` and a sentence, as what JSON has."""
    sentence = missing()
    if sentence is not None:
        return {"error": sentence}
    try:
        return asdict(_compiled(stablehlo, topology))
    except TpuError as error:
        return {"error": str(error)}
    except (ImportError, AttributeError, TypeError) as error:
        # Another jax has other private names.
        used = version("jax")
        return {"error": f"jax {used} is not understood, {JAX_VERSION} is: {_first_line(error)}"}


def main() -> None:
    """Read StableHLO from standard input, compile it for `argv[1]`, and print JSON."""
    # libtpu writes to standard output as well.
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as output:
        os.dup2(2, 1)
        json.dump(_answer(sys.stdin.buffer.read().decode(), sys.argv[1]), output)


if __name__ == "__main__":
    main()
