"""Which part of the sources each emitted line is, over the library and every accepted program."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from p0trans import driver
from p0trans.checker import StateFlags
from p0trans.driver import Built
from p0trans.emit.options import Options
from p0trans.files import read_source
from p0trans.ir.program import Definition, Reference, Value
from p0trans.source import Source
from p0trans.tools.correspondence import Match, matches
from p0trans.tools.sourcemap import MapError, SourceMap, from_json, source_map, to_json

ROOT = Path(__file__).parent.parent.parent
PROGRAMS = sorted(
    (
        *ROOT.glob("examples/casebook/*.p0"),
        *ROOT.glob("p0trans/std/*.p0"),
        *ROOT.glob("tests/cases/accept/*.p0"),
    )
)
WAYS = {
    "idiomatic": Options(),
    "explicit": Options(style="explicit"),
    "xla": Options(target="xla"),
    "bare": Options(checks="none", annotate="jaxtyping", dynamic_shapes=True),
}
TWO = """/// Twice the input.
let twice [B, D]
    (x : Tensor[F32, [B, D]])
    : Tensor[F32, [B, D]] =
  x + x

let halved [B, K, D] (x : Tensor[F32, [B, D]]) (factor : Tensor[F32, []]) : Tensor[F32, [B, K]]
    where K >= 2 assume D == 2 * K =
  let doubled = twice[B, D] x in
  let scaled  = doubled * broadcast factor [B, D] in
  let out     = slice[axis=1, start=0, stop=K] scaled in
  out

module Halved = halved with
  const factor = 0.5
"""


def built(source: Source, options: Options | None = None) -> Built:
    result = driver.build_sources([source], driver.Options(emit=options or Options()))
    assert result.files, result.diagnostics
    return result


def read(path: Path) -> Source:
    source = read_source(path)
    assert isinstance(source, Source)
    return source


def found(text: str, options: Options | None = None) -> Iterator[tuple[str, Match, list[str]]]:
    """The code of each match, the match, and the texts of its places."""
    result = built(Source("main.p0", text), options)
    (file,) = result.files
    lines = file.text.split("\n")
    for match in matches(result.program, file):
        source = result.program.unit(match.unit).source
        code = "\n".join(lines[match.first - 1 : match.last])
        yield code.strip(), match, [source.slice(span) for span in match.spans]


def places(text: str, options: Options | None = None) -> dict[str, list[str]]:
    return {code: texts for code, _, texts in found(text, options)}


def live(definition: Definition) -> set[Value]:
    used = {definition.result}
    for value, step in reversed(list(definition.numbered_steps())):
        if value in used:
            used.update(step.node.operands)
    return {value for value in used if definition.step_of(value) is not None}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_line_has_its_source_and_every_step_its_line(path: Path, way: str) -> None:
    result = built(read(path), WAYS[way])
    (file,) = result.files
    lines = file.text.split("\n")
    all_ = matches(result.program, file)
    covered = [number for match in all_ for number in range(match.first, match.last + 1)]
    assert covered == sorted(set(covered)), "stretches overlap"
    within = range(all_[0].first, all_[-1].last + 1)
    assert {number for number in within if lines[number - 1].strip()} <= set(covered)
    for match in all_:
        source = result.program.unit(match.unit).source
        assert match.spans
        assert all(source.slice(span) for span in match.spans)
    computed: dict[Reference, set[Value]] = {}
    for match in all_:
        if match.part == "body":
            computed.setdefault(match.definition, set()).update(match.values)
    for reference, values in computed.items():
        assert live(result.program.definition(reference)) <= values


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_an_assignment_to_a_let_is_at_that_let(path: Path) -> None:
    result = built(read(path), WAYS["explicit"])
    (file,) = result.files
    lines = file.text.split("\n")
    for match in matches(result.program, file):
        assigned = re.match(r"\s+(\w+)(?:: \w+)? = ", lines[match.first - 1])
        definition = result.program.definition(match.definition)
        lets = {step.binding for step in definition.steps}
        if match.part == "body" and match.values and assigned and assigned[1] in lets:
            assert assigned[1] in match.lets


def test_the_parts_of_a_function_and_a_class() -> None:
    found = places(TWO, Options(style="explicit"))
    parameter = "(x : Tensor[F32, [B, D]])"
    assert found["def twice(x: Tensor) -> Tensor:"] == [parameter]
    assert found["return x + x  # [B, D]"] == ["x + x"]
    assert found["class Halved(nn.Module):"] == ["module Halved = halved"]
    assert found["self.factor = factor"] == ["const factor = 0.5"]
    assert found['_check_input("x", x, torch.float32, ("B", "D"))'] == [parameter]
    assert found["B, D = x.shape"] == [parameter]
    assert found["K = D // 2"] == ["K", "D == 2 * K"]
    guards = [code for code in found if code.startswith("if ")]
    assert [found[code] for code in guards] == [["K >= 2"], ["D == 2 * K"]]
    assert found["doubled = twice(x)  # [B, D]"] == ["twice[B, D] x"]
    sliced = ["slice[axis=1, start=0, stop=K] scaled"]
    assert found["out = scaled[:, :K]  # [B, K]"] == found["return out"] == sliced


def test_a_rewritten_line_has_all_that_it_stands_for() -> None:
    text = (
        "let f [B, D] (x : Tensor[F32, [B, D]]) (w : Tensor[F32, [D]]) : Tensor[F32, [B, D]] =\n"
        "  let gate = x * sigmoid x in\n"
        "  let wide = broadcast w [B, D] in\n"
        "  gate * wide\n"
    )
    (match,) = (m for code, m, _ in found(text) if code.startswith("return"))
    assert match.values == (2, 3, 4, 5)
    assert match.lets == ("gate", "wide")


def test_state_given_on_the_command_line_is_at_its_parameter() -> None:
    source = Source("main.p0", (ROOT / "examples/casebook/rmsnorm.p0").read_text())
    flags = StateFlags((("weight", "ones"),), (("eps", "1e-6"),))
    result = driver.build_sources([source], driver.Options(flags=flags))
    (file,) = result.files
    lines = file.text.split("\n")
    found = {
        lines[match.first - 1].strip(): [source.slice(span) for span in match.spans]
        for match in matches(result.program, file)
    }
    assert found["self.eps = eps"] == ["(eps : Tensor[F32, []])"]
    assert found["nn.init.ones_(self.weight)"] == ["(weight : Tensor[F32, [D]])"]


def test_a_package_has_a_map_for_each_file(tmp_path: Path) -> None:
    (tmp_path / "a.p0").write_text(TWO)
    (tmp_path / "b.p0").write_text(
        "from a import twice\n"
        "let four [B, D] (x : Tensor[F32, [B, D]]) : Tensor[F32, [B, D]] =\n"
        "  twice[B, D] (twice[B, D] x)\n"
    )
    sources = [read(tmp_path / "a.p0"), read(tmp_path / "b.p0")]
    result = driver.build_sources(sources, driver.Options(layout="package"))
    maps = {file.path: source_map(result.program, file, tmp_path / "out") for file in result.files}
    assert [path for path, map_ in maps.items() if map_.lines] == ["a.py", "b.py"]
    assert [origin.path for origin in maps["b.py"].sources] == ["../b.p0"]


def _map(tmp_path: Path) -> tuple[SourceMap, Source]:
    path = tmp_path / "norm.p0"
    text = (ROOT / "examples/casebook/rmsnorm.p0").read_text()
    path.write_text(f"from std.norm import layer_norm, LayerNorm\n{text}")
    source = read(path)
    result = built(source)
    return source_map(result.program, result.files[0], tmp_path), source


def test_the_map_as_json(tmp_path: Path) -> None:
    map_, source = _map(tmp_path)
    text = to_json(map_)
    assert from_json(text) == map_
    data = json.loads(text)
    assert data["sources"] == [{"path": "norm.p0", "sha256": source.digest()}]
    # A line for each entry, so that a diff shows which changed.
    assert sum(line.startswith('{"lines"') for line in text.splitlines()) == len(data["lines"])
    for mapped in map_.lines:
        assert map_.at(mapped.first) == map_.at(mapped.last) == mapped
        assert all(source.slice(area.span(source)).strip() for area in mapped.areas)
    assert map_.at(1) is None


def test_a_library_source_is_named_by_its_place_there() -> None:
    block = built(read(ROOT / "p0trans/std/block.p0"))
    map_ = source_map(block.program, block.files[0], Path("/elsewhere"))
    assert {origin.path for origin in map_.sources} >= {"block.p0", "attention.p0"}
    assert all(origin.library for origin in map_.sources)
    assert all(origin.locate(Path("/elsewhere")).is_file() for origin in map_.sources)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"version": 2}',
        '{"version": 1}',
        '{"version": 1, "sha256": "", "sources": [{}], "lines": []}',
        '{"version": 1, "sha256": "", "sources": [], "lines": [{"lines": [1, 1], "source": 0}]}',
        '{"version": 1, "sha256": "", "sources": 3, "lines": []}',
        '{"version": 1, "sha256": "", "sources": [], "lines": [7]}',
        "[" * 100_000,
    ],
)
def test_what_is_no_map(text: str) -> None:
    with pytest.raises(MapError):
        from_json(text)


def test_an_idiom_of_a_called_definition_is_named_in_the_dims_of_its_caller() -> None:
    text = """from std.softmax import softmax

let gates [B, D] (x : Tensor[F32, [B, D]]) (w : Tensor[F32, [D, 2]]) : Tensor[F32, [1, B, 2]] =
  softmax[1, B, 2] (reshape (matmul x w) [1, B, 2])
"""
    result = built(Source("main.p0", text))
    (file,) = result.files
    idioms = {idiom for match in matches(result.program, file) for idiom in match.idioms}
    assert idioms == {"softmax over 2"}
