"""What the learner sees: calm boxes that read well in both themes and as plain text."""

import re
from html import escape

from helpers.exercises.engine.judge import PASSED, UNTOUCHED, WRONG
from helpers.exercises.engine.wording import outline

__all__ = ["Box", "board_box", "hint_box", "message_box", "solution_box", "verdict_box"]

MARKS = {PASSED: "✓", WRONG: "✗", UNTOUCHED: "○"}
LINES, CHARACTERS = 20, 1_500  # shown at most of what an answer printed
WORDS = {PASSED: "Passed", WRONG: "Not yet", UNTOUCHED: "Not attempted yet"}

# JupyterLab's variables follow its theme; elsewhere the page's own colors are kept.
STYLE = """<style>
.tn-box {
  border: 1px solid var(--jp-border-color1, #8a949e);
  border-left-width: 5px;
  border-radius: 4px;
  color: var(--jp-content-font-color1, inherit);
  font: 14px/1.5 var(--jp-content-font-family, system-ui, sans-serif);
  margin: 4px 0;
  max-width: 52em;
  padding: 8px 14px;
}
.tn-box.tn-passed { border-left-color: var(--jp-success-color1, #388e3c); }
.tn-box.tn-wrong { border-left-color: var(--jp-warn-color1, #f57c00); }
.tn-box p { margin: 4px 0 0; }
.tn-box .tn-example { display: flex; flex-wrap: wrap; gap: 4px 28px; margin-top: 6px; }
.tn-box pre, .tn-box code { font-family: var(--jp-code-font-family, monospace); font-size: 13px; }
.tn-box pre { margin: 0; white-space: pre-wrap; }
.tn-box div + p { margin-top: 8px; }
.tn-box.tn-board table { border-collapse: collapse; margin: 8px 0 4px; }
.tn-box.tn-board table :is(th, td) { padding: 3px 16px 3px 0; text-align: left; }
.tn-box.tn-board table td span[title] { display: inline-block; min-width: 6.2em; }
.tn-box.tn-board table th { white-space: nowrap; }
</style>"""

# Neither JupyterLab (the first) nor an exported page (the second) typesets dollars as mathematics.
AS_TYPED = "mathjax_ignore tex2jax_ignore"


class Box:
    """Something to display: HTML (or Markdown), and the same words as plain text."""

    def __init__(self, text, html=None, markdown=None):
        self._bundle = {"text/plain": text, "text/html": html, "text/markdown": markdown}

    def __repr__(self):
        return self._bundle["text/plain"]

    def _repr_mimebundle_(self, **kwargs):
        return {kind: content for kind, content in self._bundle.items() if content}


def verdict_box(exercise, verdict, help, notes=()):
    """The verdict on an answer: state, sentence, example, inputs, prints, and where to get help."""
    lines = [verdict.sentence] if verdict.sentence else []
    if verdict.state == UNTOUCHED:
        lines.append("Write your answer in the cell above, run that cell, then this one again.")
    return _box(
        f"{MARKS[verdict.state]} {WORDS[verdict.state]}",
        exercise,
        lines,
        verdict,
        notes if verdict.passed else [help, *notes],
    )


def hint_box(exercise, number, notes=()):
    """The hints up to `number`, counted from 1, and how to get the next."""
    total = len(exercise.hints)
    hints = exercise.hints[:number]
    if number == 1:
        title = f"Hint 1 of {total}"
    else:
        title = f"Hints 1 to {number} of {total}"
        hints = [f"{i}. {hint}" for i, hint in enumerate(hints, 1)]
    rest = f'`solution("{exercise.id}")` shows the solution.'
    if number < total:
        rest = (
            f'After a different answer, `hint("{exercise.id}")` adds the next one; '
            f'`hint("{exercise.id}", {number + 1})` does so now.'
        )
    return _box(title, exercise, hints, None, [rest, *notes])


def message_box(sentence, notes=()):
    """One sentence."""
    return _box("", None, [sentence], None, notes)


def solution_box(exercise):
    """The solution's source, and what to notice; Markdown, so the front end colors the code."""
    title = f"Solution of {exercise.id} {exercise.title}"
    notice = [f"What to notice: {exercise.notice}"] if exercise.notice else []
    return Box(
        "\n\n".join([title, exercise.source.rstrip(), *notice]),
        markdown="\n\n".join([f"**{title}**", f"```python\n{exercise.source}```", *notice]),
    )


def board_box(rows, records, notes=()):
    """All exercises: rows of (name of the notebook, its exercises), and the board's records."""
    every = [exercise for _, exercises in rows for exercise in exercises]
    done = [e for e in every if _state(records, e) == PASSED]
    summary = (
        f"{len(done)} of {len(every)} exercises passed, "
        f"{sum(e.stars for e in done)} of {sum(e.stars for e in every)} stars."
    )
    legend = ", ".join(f"{MARKS[state]} {WORDS[state].lower()}" for state in MARKS)
    text, html = [], []
    for name, exercises in rows:
        passed = f"{sum(_state(records, e) == PASSED for e in exercises)} of {len(exercises)}"
        cells = [f"{MARKS[_state(records, e)]} {e.id} {_stars(e)}" for e in exercises]
        text.append(f"{name}: {passed}\n  " + "   ".join(cells))
        spans = "\u2003".join(
            f'<span title="{escape(e.title)}">{MARKS[_state(records, e)]} {e.id} '
            f"{_stars_html(e)}</span>"
            for e in exercises
        )
        html.append(
            f'<tr><th scope="row">{escape(name)}</th><td>{passed}</td><td>{spans}</td></tr>'
        )
    table = (
        '<table><thead><tr><th scope="col">Notebook</th><th scope="col">Passed</th>'
        f'<th scope="col">Exercises</th></tr></thead><tbody>{"".join(html)}</tbody></table>'
    )
    return Box(
        "\n".join([f"Your board: {summary}", *text, legend, *map(_plain, notes)]),
        f'{STYLE}<div class="tn-box tn-board {AS_TYPED}">'
        f"<strong>Your board</strong>: {summary}{table}"
        f"<p>{legend}</p>{''.join(map(_paragraph, notes))}</div>",
    )


def _box(state, exercise, lines, verdict, footer):
    """A box: head, lines, what belongs to a verdict, and lines below it."""
    name = exercise and f"{exercise.id} {exercise.title}"
    parts = _parts(exercise, verdict) if verdict else []
    text = [f"{state}: {name} {_stars(exercise)}"] if exercise else []
    text += map(_plain, lines)
    for line, values in parts:
        text += [_plain(line)] * bool(line) + [f"{word}:\n{value}" for word, value in values]
    text += map(_plain, footer)
    html = [STYLE, f'<div class="tn-box {AS_TYPED}{f" tn-{verdict.state}" if verdict else ""}">']
    if exercise:
        html.append(f"<strong>{state}</strong>: {escape(name)} {_stars_html(exercise)}")
    html += map(_paragraph, lines)
    for line, values in parts:
        html += [_paragraph(line)] * bool(line)
        pairs = (f"<div>{escape(word)}<pre>{escape(value)}</pre></div>" for word, value in values)
        html.append(f'<div class="tn-example">{"".join(pairs)}</div>')
    html += map(_paragraph, footer)
    return Box("\n".join(text), "".join(html) + "</div>")


def _parts(exercise, verdict):
    """What is shown below a verdict's sentence: pairs of a line and its named values."""
    parts, call = [], verdict.call
    if verdict.example:
        parts.append(("", list(zip(("expected", "got"), verdict.example, strict=True))))
    if verdict.state == WRONG:
        of = (call.made, call) if call.made else (call,)
        inputs = [pair for one in of for pair in zip(one.names, one.inputs or (), strict=False)]
        if inputs:
            shown = [(name, outline(value)) for name, value in inputs]
            parts.append((_again(exercise, call), shown))
    if printed := _last_lines(call.printed):
        parts.append(("", [("It printed", printed)]))
    return parts


def _again(exercise, call):
    """How the call can be made again."""
    inputs = f'example("{exercise.id}")'
    if not call.method:
        return f"The inputs; `{exercise.name}(*{inputs})` tries them again:"
    again = f"made, given = {inputs}; {exercise.name}(*made)"
    if call.made:
        again += f".{call.method}(*given)"
    return f"The inputs; `{again}` tries them again:"


def _last_lines(printed):
    """The end of what was printed, without codes for colors and the like."""
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", printed).replace("\r", "\n").rstrip()
    text = "".join(c for c in text if c.isprintable() or c in "\n\t")
    last = "\n".join(text.splitlines()[-LINES:])[-CHARACTERS:]
    return last if last == text else f"…\n{last}"


def _state(records, exercise):
    record = records.get(exercise.id, {})
    return PASSED if record.get("passed") else WRONG if record.get("tried") else UNTOUCHED


def _stars(exercise):
    return "★" * exercise.stars


def _stars_html(exercise):
    words = "1 star" if exercise.stars == 1 else f"{exercise.stars} stars"
    return f'<span role="img" aria-label="{words}">{_stars(exercise)}</span>'


def _paragraph(line):
    """A line as HTML; `code` between backticks is set as code, everything else is text."""
    return "<p>" + re.sub("`([^`]+)`", r"<code>\1</code>", escape(line)) + "</p>"


def _plain(line):
    return line.replace("`", "")
