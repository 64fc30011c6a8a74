"""What the rewriting did to a program, and what it nearly did, as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from p0trans.rewrite import Event


def render(events: Sequence[Event]) -> str:
    """A line for each rewrite, then one for each that nearly was one, with the reason; each once,
    in the order of the source.

        norm.p0:6-9  rms_norm  x * rsqrt (mean (square x) + eps) = rms_norm x
    """
    ordered = sorted(dict.fromkeys(events), key=lambda event: (event.source.name, event.spans))
    fired = [event for event in ordered if event.fired]
    missed = [event for event in ordered if not event.fired]
    lines = _table([(_place(event), event.rule, event.identity) for event in fired])
    text = "".join(f"{line}\n" for line in lines) or "nothing was rewritten\n"
    if missed:
        text += "\nnot rewritten:\n"
        rows = [(_place(event), event.rule, event.why) for event in missed]
        text += "".join(f"{line}\n" for line in _table(rows))
    return text


def _table(rows: Sequence[tuple[str, str, str]]) -> Iterator[str]:
    widths = [max((len(row[column]) for row in rows), default=0) for column in (0, 1)]
    for place, rule, words in rows:
        yield f"{place:{widths[0]}}  {rule:{widths[1]}}  {words}"


def _place(event: Event) -> str:
    first, _ = event.source.position(min(span.start for span in event.spans))
    last, _ = event.source.position(max(span.end for span in event.spans))
    return f"{event.source.name}:{first}" + (f"-{last}" if last > first else "")
