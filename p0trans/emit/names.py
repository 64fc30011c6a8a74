"""Python names for Phase 0 names."""

from __future__ import annotations

import keyword
from collections.abc import Container, Iterable, Mapping

from p0trans.dtypes import DTYPES

CHECK_INPUT = "_check_input"
CHECK_SHAPE = "_check_shape"
CHECK_TUPLE = "_check_tuple"
CHECKS = (CHECK_INPUT, CHECK_SHAPE, CHECK_TUPLE)
"""What emitted code calls to check its inputs, in the order of its definitions."""

# `keyword.softkwlist` differs between Python versions, and the output must not.
KEYWORDS = frozenset(keyword.kwlist) | {"_", "case", "match", "type"}
_BUILTIN_WORDS = """
    ImportError RuntimeError TypeError ValueError bool dict float int isinstance len list min max
    str super tuple
"""
_BUILTINS = frozenset(_BUILTIN_WORDS.split())
_IMPORT_WORDS = """
    Any Callable F Literal Tensor annotations import_module math nn torch torch_xla
"""
_IMPORTS = frozenset(_IMPORT_WORDS.split())

RESERVED: frozenset[str] = (
    KEYWORDS
    | _BUILTINS
    | _IMPORTS
    | {dtype.jaxtyping for dtype in DTYPES.values()}
    | {"self", *CHECKS}
)
"""Names that no emitted definition or variable may take: an emitted file gives them a meaning."""

_MODULE_ATTRIBUTES = """
    T_destination add_module apply bfloat16 buffers call_super_init children compile cpu cuda
    double dump_patches dynamic_shapes eval extra_repr float forward get_buffer get_extra_state
    get_parameter get_submodule half ipu load_state_dict modules mtia named_buffers named_children
    named_modules named_parameters parameters register_backward_hook register_buffer
    register_forward_hook register_forward_pre_hook register_full_backward_hook
    register_full_backward_pre_hook register_load_state_dict_post_hook
    register_load_state_dict_pre_hook register_module register_parameter
    register_state_dict_post_hook register_state_dict_pre_hook requires_grad_ reset_parameters
    set_extra_state set_submodule share_memory state_dict to to_empty train training type xpu
    zero_grad
    _apply _backward_hooks _backward_pre_hooks _buffers _call_impl _compiled_call_impl
    _forward_hooks _forward_hooks_always_called _forward_hooks_with_kwargs _forward_pre_hooks
    _forward_pre_hooks_with_kwargs _get_backward_hooks _get_backward_pre_hooks _get_name
    _is_full_backward_hook _load_from_state_dict _load_state_dict_post_hooks
    _load_state_dict_pre_hooks _maybe_warn_non_full_backward_hook _modules _named_members
    _non_persistent_buffers_set _parameters _register_load_state_dict_pre_hook
    _register_state_dict_hook _replicate_for_data_parallel _save_to_state_dict _slow_forward
    _state_dict_hooks _state_dict_pre_hooks _version _wrapped_call_impl
"""

MODULE_ATTRIBUTES: frozenset[str] = KEYWORDS.union(_MODULE_ATTRIBUTES.split())
"""Attributes that `torch.nn.Module` and its emitted subclasses already have, and keywords."""


def free_name(name: str, *taken: Container[str]) -> str:
    """`name`, with as many trailing underscores as it takes to be in none of `taken`.

    Two underscores at its start become one: Python gives `__call__` a meaning of its own, and in
    a class `__x` is another name than outside.
    """
    if name.startswith("__"):
        name = f"_{name.strip('_')}"
    while any(name in names for names in taken):
        name += "_"
    return name


def allocate(names: Iterable[str], *taken: Container[str]) -> Mapping[str, str]:
    """A Python name for each of `names`, all different and in none of `taken`."""
    used: set[str] = set()
    allocated: dict[str, str] = {}
    for name in names:
        if name not in allocated:
            allocated[name] = free_name(name, used, *taken)
            used.add(allocated[name])
    return allocated
