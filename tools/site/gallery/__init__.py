"""The gallery: a page for each script of ``examples/``, with what it computes as a picture, its
plan and its source, to be downloaded as a notebook, too."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tools.site.gallery import drawing, notebook, pictures, plans, timings
from tools.site.gallery.script import SHARED, Script, load, scripts

INDEX = """# Gallery

Programs that fuse a whole expression into one kernel. Each compares every element with NumPy's
and is run by the tests, as a script and as the notebook that its page has for download; `python
examples/softmax.py` runs one from a checkout, with `--size memory` on arrays larger than a cache,
with `--time` beside NumPy, with `--html plan.html` with its plan as a page.

"""

# Every script, in the order in which they are shown.
GROUPS = {
    "Networks": (
        "softmax",
        "masked_softmax",
        "ragged_batch",
        "layernorm",
        "rms_norm",
        "batch_norm",
        "bias_gelu",
        "rotary_embedding",
    ),
    "Images, points and prices": (
        "image_normalise",
        "mandelbrot_step",
        "k_means",
        "nbody_forces",
        "rbf_kernel_sum",
        "rbf_kernel_matrix",
        "black_scholes",
    ),
    "With another library": ("torch_operator", "stablehlo_module", "larger_than_memory"),
}


@dataclass(frozen=True, slots=True)
class Shown:
    """What a page shows beside its words.

    Attributes:
        words: what the picture of data shows; empty where there is none.
        drawn: SVG elements of plans, each with what it is.
    """

    words: str
    drawn: tuple[tuple[str, str], ...]


def pages(root: Path) -> dict[str, str]:
    """Texts by their paths in ``docs/``."""
    shared = (root / "examples" / SHARED).read_text(encoding="utf-8")
    every = scripts(root)
    drawings = pictures.drawings({one.name: load(one) for one in every if one.has_cases})
    reports = timings.reports(root)
    found = {SHARED: shared}
    shown = {}
    for one in every:
        words = drawings[one.name].words if one.name in drawings else ""
        shown[one.name] = Shown(words, tuple(_drawn(one)))
        found[f"{one.name}.md"] = page(one, shown[one.name], timings.text(one.name, reports))
        found[one.path.name] = one.path.read_text(encoding="utf-8")
        found[f"{one.name}.ipynb"] = notebook.text(one, shared)
    for name, picture in drawings.items():
        for theme in drawing.INKS:
            found[f"{name}-{theme}.svg"] = drawing.svg(picture, theme)
    found["index.md"] = index(every, shown)
    return {f"gallery/{name}": text for name, text in found.items()}


def _drawn(script: Script) -> list[tuple[str, str]]:
    found = []
    own = plans.committed(script)
    every = list(plans.explanations(script))
    for name, explanation in every:
        where = f", in `{name}`" if len(every) > 1 else ""
        found.append(
            (
                f"Where the axes of the operands go{where}",
                plans.alignment(explanation),
            )
        )
        if not own:
            found.append((f"What must move for these sizes{where}", plans.moved(explanation)))
    return [*found, *([("What must move, in bytes", own)] if own else [])]


def page(script: Script, shown: Shown, times: str) -> str:
    """One script: what it says of itself, what it computes, its plan, its times, its source."""
    parts = [f"# {script.title}", script.sentence, _files(script), script.text]
    if shown.words:
        parts.append(_image(script, shown.words))
    if shown.drawn:
        parts.append("## Its plan")
        parts += [f'{said}:\n\n<div class="plan">\n{drawn}\n</div>' for said, drawn in shown.drawn]
    if times:
        parts += ["## Its times", times]
    parts += ["## Its source", f"```python\n{script.code}```"]
    return "\n\n".join(part for part in parts if part) + "\n"


def _files(script: Script) -> str:
    files = (
        f"{{download}}`Notebook <{script.name}.ipynb>` · {{download}}`script <{script.path.name}>`"
    )
    return files + (f" (imports {{download}}`{SHARED}`)" if script.is_sharing else "")


def _image(script: Script, words: str, target: str = "") -> str:
    return "\n\n".join(
        f"```{{image}} {script.name}-{theme}.svg\n:class: only-{theme}\n:alt: {words}\n"
        + (f":target: {target}\n" if target else "")
        + "```"
        for theme in drawing.INKS
    )


def index(every: list[Script], shown: dict[str, Shown]) -> str:
    """A card for each script."""
    named = {one.name: one for one in every}
    parts = []
    for title, names in GROUPS.items():
        cards = "\n\n".join(card(named.pop(name), shown[name]) for name in names)
        listed = "\n".join(names)
        parts.append(
            f"## {title}\n\n:::::{{container}} gallery-cards\n{cards}\n:::::\n\n"
            f"```{{toctree}}\n:hidden:\n\n{listed}\n```\n"
        )
    if named:
        raise ValueError(f"no group of the gallery has {', '.join(named)}")
    return INDEX + "\n".join(parts)


def card(script: Script, shown: Shown) -> str:
    """A picture, the name, and the first line that it says of itself."""
    if shown.words:
        picture = _image(script, shown.words, f"{script.name}.html")
    else:
        _, drawn = shown.drawn[-1 if plans.committed(script) else 0]
        picture = f'<div class="plan">\n<a href="{script.name}.html">{drawn}</a>\n</div>'
    return (
        f"::::{{container}} gallery-card\n{picture}\n\n[{script.title}]({script.name}.md)\n\n"
        f"{script.sentence}\n::::"
    )
