"""Emitted modules as programs of torch.export, and as StableHLO.

PyTorch and torch_xla are imported by the functions that need them.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from p0trans.emit import Header, emit_file
from p0trans.emit.options import Options as EmitOptions
from p0trans.emit.varying import multiple_of, varying
from p0trans.importing import import_text
from p0trans.ir.program import Program
from p0trans.shapes.dim import Constraint, constant, variable
from p0trans.shapes.sample import sample_sizes
from p0trans.tools.constraints import SizesError, known_sizes
from p0trans.tools.verify_subjects import Subject, subjects
from p0trans.types import TensorType, Type

if TYPE_CHECKING:
    from torch.export import ExportedProgram


class ExportError(Exception):
    """Why a module cannot be exported, as one sentence."""


def choose_module(program: Program, name: str | None) -> Subject:
    """The module called `name` of the program's first root, or its only one.

    Raises ExportError when there is no such module, or no telling which one is meant.
    """
    modules = [item for item in subjects(program, program.roots[0]) if item.plan is not None]
    chosen = [item for item in modules if name is None or item.is_called(name)]
    if len(chosen) == 1:
        return chosen[0]
    listed = ", ".join(item.name for item in modules) or "none"
    if name is None:
        raise ExportError(f"name the module to export; the file has {listed}")
    raise ExportError(f"the file has no module `{name}`; it has {listed}")


def exported_bytes(program: Program, subject: Subject, dims: Mapping[str, int]) -> bytes:
    """A `.pt2` file: the module as a program of torch.export, for all sizes that its types allow.

    `dims` has the sizes that the constructor takes; the others may vary in what is exported. The
    parameters have the values with which a new module begins. Raises ExportError.
    """
    plan = subject.plan
    assert plan is not None
    sizes = _sizes(subject, dims, plan.constructor)
    _require_fixed(subject, dims, sizes)
    _require("torch", "torch")
    import torch

    data = io.BytesIO()
    torch.export.save(_exported(program, subject, sizes, varying=True), data)
    return data.getvalue()


def stablehlo_text(program: Program, subject: Subject, dims: Mapping[str, int]) -> str:
    """The module as StableHLO by way of torch_xla, for the fixed sizes `dims`.

    Comments on top say what the arguments of its function are. torch_xla starts the runtime that
    the environment variable PJRT_DEVICE names, which does not change the text. Raises ExportError.
    """
    sizes = _sizes(subject, dims, subject.definition.shape_parameters)
    _require("torch", "torch")
    _require("torch_xla", "xla")
    from torch_xla.stablehlo import (
        StableHLOExportOptions,
        VariableType,
        exported_program_to_stablehlo,
    )

    exported = _exported(program, subject, sizes, varying=False)
    _write_out_constants(exported)
    # The text has no weights; torch_xla would make NumPy arrays of them, which have no BF16.
    options = StableHLOExportOptions(export_weights=False)
    module: Any = exported_program_to_stablehlo(exported, options)
    # The order of the arguments is torch_xla's own, and only its bundle has it.
    (function,) = module._bundle.stablehlo_funcs
    signature = exported.graph_signature
    lines = []
    for index, location in enumerate(function.meta.input_locations):
        if location.type_ is VariableType.INPUT_ARG:
            what = f"input {signature.user_inputs[location.position]}"
        elif location.type_ is VariableType.CONSTANT:
            # A Bool is one that torch_xla does not write out.
            value = module._bundle.additional_constants[location.position].tolist()
            what = f"constant {json.dumps(value)}"
        else:
            kind = "parameter" if location.name in signature.parameters else "buffer"
            what = f"{kind} {location.name}"
        lines.append(f"// %arg{index}: {what}\n")
    text: str = module.get_stablehlo_text()
    return "".join((*lines, text))


def _sizes(subject: Subject, dims: Mapping[str, int], needed: Sequence[str]) -> Mapping[str, int]:
    """A size for each shape variable; `dims` must determine those of `needed`."""
    names = subject.definition.shape_parameters
    for name in dims:
        if name not in names:
            listed = ", ".join(names) or "none"
            raise ExportError(f"`{name}` is no shape variable of {subject.name}; it has {listed}")
    try:
        known = known_sizes(names, subject.constraints, dims)
    except SizesError as error:
        raise ExportError(f"{subject.name} needs {error}") from error
    missing = [name for name in needed if name not in known]
    if missing:
        raise ExportError(f"the sizes of {', '.join(missing)} are needed: give them with --dims")
    given = (Constraint(variable(name), "==", constant(size)) for name, size in known.items())
    constraints = (*subject.constraints, *given)
    found = sample_sizes(names, (*constraints, *_large(subject)), 1, 0)
    found = found or sample_sizes(names, constraints, 1, 0)
    if not found:
        facts = ", ".join(map(str, constraints))
        raise ExportError(f"no sizes were found for {subject.name} with {facts}")
    return found[0]


def _require_fixed(subject: Subject, dims: Mapping[str, int], sizes: Mapping[str, int]) -> None:
    """Raise ExportError for a size of `dims` that the constructor does not decide."""
    assert subject.plan is not None
    constructor = {name: sizes[name] for name in subject.plan.constructor}
    fixed = known_sizes(subject.definition.shape_parameters, subject.constraints, constructor)
    for name in dims:
        if name not in fixed:
            raise ExportError(
                f"`{name}` varies in what is exported, so that a size for it has no effect; with"
                " --to stablehlo all sizes are fixed"
            )


def _large(subject: Subject) -> Iterator[Constraint]:
    """That no variable of torch.export is 1, where it would take the size for a fixed one."""
    assert subject.plan is not None
    known = varying(subject.plan)
    for axis in known.axes:
        multiple = multiple_of(axis.solved, known)
        if multiple is not None:
            least = multiple.factor * constant(2) + multiple.rest
            yield Constraint(axis.dim, ">=", least)


def _exported(
    program: Program, subject: Subject, sizes: Mapping[str, int], varying: bool
) -> ExportedProgram:
    """The module at `sizes`; with `varying` for all others that its types allow as well."""
    import torch
    from torch.fx.experimental import _config as symbolic_shapes

    plan = subject.plan
    assert plan is not None
    options = EmitOptions(dynamic_shapes=True)
    text = emit_file(program, program.roots[0], options, Header("", (), "", "")).text
    class_ = vars(import_text(text, "export"))[subject.name]
    with torch.random.fork_rng(devices=()):
        torch.manual_seed(0)
        module = class_(**{word: sizes[name] for name, word in subject.keywords.items()})
    parameters = [subject.definition.parameters[index] for index in plan.inputs]
    inputs = tuple(_example(parameter.type, sizes) for parameter in parameters)
    # Otherwise sizes that could be 1 are assumed not to be, and the export refuses them later.
    with symbolic_shapes.patch(backed_size_oblivious=True):  # type: ignore[attr-defined]
        try:
            return torch.export.export(
                module,
                inputs,
                dynamic_shapes=module.dynamic_shapes() if varying else None,
                # What dims cannot say of sizes (`S != T`) is checked when the program runs.
                prefer_deferred_runtime_asserts_over_guards=True,
            )
        except RuntimeError as error:
            first = str(error).strip().splitlines()[0]
            raise ExportError(f"torch.export does not take {subject.name}: {first}") from error


def _write_out_constants(exported: ExportedProgram) -> None:
    """Make each number of a program a part of it; torch.export has them as arguments."""
    import torch

    graph, signature = exported.graph, exported.graph_signature
    lifted = signature.inputs_to_lifted_tensor_constants
    for node in [node for node in graph.nodes if node.name in lifted]:
        number = exported.constants[lifted[node.name]]
        first = next(each for each in graph.nodes if each.op != "placeholder")
        with graph.inserting_before(first):
            written = graph.call_function(
                torch.ops.aten.full.default,
                (list(number.shape), number.item()),
                {"dtype": number.dtype, "device": number.device},
            )
        written.meta = node.meta
        node.replace_all_uses_with(written)
        graph.erase_node(node)
    signature.input_specs = [spec for spec in signature.input_specs if spec.arg.name not in lifted]
    exported.graph_module.recompile()


def _example(type_: Type, sizes: Mapping[str, int]) -> Any:
    """A value of a type. Zeros will do: a program is exported for all values."""
    import torch

    if not isinstance(type_, TensorType):
        return tuple(_example(item, sizes) for item in type_.items)
    shape = [dim.evaluate(sizes) for dim in type_.shape]
    return torch.zeros(shape, dtype=getattr(torch, type_.dtype.torch))


def _require(module: str, extra: str) -> None:
    if find_spec(module) is None:
        raise ExportError(f"exporting needs {module}: pip install 'p0trans[{extra}]'")
