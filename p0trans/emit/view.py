"""What the templates of an emitted file are given: every string and flag that they need."""

from __future__ import annotations

from dataclasses import dataclass

from p0trans.emit.lines import UNTRACED, Line, Trace
from p0trans.ir.program import Definition, Module, Value


@dataclass(frozen=True, slots=True)
class InputCheck:
    """A call that checks the dtype and rank of the input `value`; `dims` is a tuple of strings."""

    value: str
    dtype: str
    dims: str
    trace: Trace = UNTRACED


@dataclass(frozen=True, slots=True)
class TupleCheck:
    """A call that checks that the input `value` is a tuple of `length` items."""

    value: str
    length: int
    trace: Trace = UNTRACED


@dataclass(frozen=True, slots=True)
class ShapeCheck:
    """A call that compares the shape of the input `value` with `sizes`."""

    value: str
    dims: str
    sizes: str
    trace: Trace = UNTRACED


@dataclass(frozen=True, slots=True)
class Boundary:
    """The statements before a body: checks of the inputs, the shape variables, and checks of
    what was assumed about them; `dtype` is an assignment for the checks of the inputs, or empty."""

    tuples: tuple[TupleCheck, ...]
    dtype: str
    inputs: tuple[InputCheck, ...]
    bindings: tuple[Line, ...]
    shapes: tuple[ShapeCheck, ...]
    guards: tuple[Line, ...]

    @property
    def has_checks(self) -> bool:
        """Whether a reader should see the boundary set apart from the body."""
        return bool(self.tuples or self.inputs or self.shapes or self.guards)


@dataclass(frozen=True, slots=True)
class FunctionView:
    """A function or method that computes `definition`; `parameters` are the items of its
    signature, as written, and `inputs` the parameters of the definition among them."""

    definition: Definition
    inputs: tuple[Value, ...]
    name: str
    parameters: tuple[str, ...]
    returns: str
    doc: tuple[str, ...]
    boundary: Boundary
    body: tuple[Line, ...]

    @property
    def traces(self) -> tuple[Trace, ...]:
        """What each statement was made of, in order."""
        checks = self.boundary
        return (
            *(check.trace for check in checks.tuples),
            *((UNTRACED,) if checks.dtype else ()),
            *(check.trace for check in checks.inputs),
            *(line.trace for line in checks.bindings),
            *(check.trace for check in checks.shapes),
            *(line.trace for line in (*checks.guards, *self.body)),
        )


@dataclass(frozen=True, slots=True)
class ConstructorView:
    parameters: tuple[str, ...]
    guards: tuple[Line, ...]
    assignments: tuple[Line, ...]
    resets: tuple[Line, ...]
    representation: str


@dataclass(frozen=True, slots=True)
class DynamicShapesView:
    """A method for torch.export: assignments of its dims, and the axes of each input."""

    dims: tuple[str, ...]
    inputs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ClassView:
    """`buffers` are the annotations of attributes that `register_buffer` makes."""

    module: Module
    name: str
    doc: tuple[str, ...]
    buffers: tuple[str, ...]
    constructor: ConstructorView | None
    forward: FunctionView
    dynamic_shapes: DynamicShapesView | None


@dataclass(frozen=True, slots=True)
class MarkView:
    """An axis of an input whose size may vary, and that size."""

    tensor: str
    axis: int
    dim: str


@dataclass(frozen=True, slots=True)
class HookView:
    """A function that compiles a module of the class `class_`.

    `callable` is the type of what it gives, which takes `parameters`. `arguments` are the names
    of these and `moved` expressions for them on the device; `dynamic` lists the marked sizes.
    """

    name: str
    class_: str
    callable: str
    parameters: tuple[str, ...]
    arguments: tuple[str, ...]
    moved: tuple[str, ...]
    returns: str
    marks: tuple[MarkView, ...]
    dynamic: str


@dataclass(frozen=True, slots=True)
class ItemView:
    """A top-level item: a function, or a class with its hook if it has one."""

    class_: ClassView | None
    function: FunctionView | None
    hook: HookView | None


@dataclass(frozen=True, slots=True)
class FileView:
    """One file. `imports` are groups of import lines, `helpers` the checks that its code calls;
    and `defined` those of them that it defines. `hooks` is the template of its hooks."""

    header: tuple[str, ...]
    waivers: str
    imports: tuple[tuple[str, ...], ...]
    exports: tuple[str, ...]
    hooks: str
    items: tuple[ItemView, ...]
    helpers: tuple[str, ...]
    defined: tuple[str, ...]
