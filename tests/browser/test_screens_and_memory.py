"""All kinds of widgets on one page: forced colors, zoom, small targets, and what a rerun leaves."""

import pytest

from tests.browser.test_every_widget import KINDS, SET_UP

ATTENTION = list(KINDS).index("attention")
GRID = list(KINDS).index("grid")
HEADS = """
heads = np.full((2, 3, 4, 4), 0.25)
explore(Attention(heads, list('abcd'), mask=np.tril(np.ones((4, 4)), -1)))
"""
SIZES = """(widget) => [...widget.querySelectorAll(
    "button, select, input, [role=slider], [role=option], [tabindex]")].flatMap((target) => {
    const { width, height } = (target.closest("label") ?? target).getBoundingClientRect();
    return !width || Math.round(Math.min(width, height)) >= 24
        ? [] : [`${target.outerHTML.slice(0, 90)}: ${width} x ${height}`];
})"""


@pytest.fixture(scope="module")
def notebook(open_notebook):
    sources = [f"{SET_UP}{source}\nshown" for source, *_ in KINDS.values()]
    return open_notebook([*sources, HEADS])


def style(locator, name, pseudo=None):
    return locator.evaluate("(e, [name, of]) => getComputedStyle(e, of)[name]", [name, pseudo])


def test_targets_are_large_enough(notebook):
    for index, kind in enumerate([*KINDS, "heads"]):
        assert notebook.widget(index).evaluate(SIZES) == [], kind


def test_forced_colors_keep_what_is_chosen_and_what_is_data(notebook):
    notebook.page.emulate_media(forced_colors="active", color_scheme="dark")
    try:
        for index, pressed, other in ((ATTENTION, "Matrix", "Arcs"), (GRID, "Grid", "Table")):
            looks = [
                style(notebook.widget(index).get_by_role("button", name=name), "backgroundColor")
                for name in (pressed, other)
            ]
            assert looks[0] != looks[1]
        heads = notebook.widget(len(KINDS))
        chosen = heads.locator("[data-head][aria-pressed=true]")
        assert style(chosen, "outlineStyle") == "solid"
        assert style(heads.locator(".tn-cell"), "outlineStyle") == "solid"
        for ramp in (heads.locator(".tn-ramp"), notebook.widget(GRID).locator(".tn-grid-ramp")):
            assert "gradient" in style(ramp, "backgroundImage")
        line = notebook.widget(GRID).locator(".tn-grid-column")
        assert style(line, "borderLeftStyle") == "solid"
        # The pictures are drawn in the colors of the system's theme, not of JupyterLab's.
        assert notebook.soon(lambda: "tn-dark" in heads.get_attribute("class"), True)
    finally:
        notebook.page.emulate_media(forced_colors="none", color_scheme="light")
    assert notebook.soon(lambda: "tn-dark" in heads.get_attribute("class"), False) is False


def test_pictures_are_sharp_after_a_zoom(notebook):
    canvases = [
        notebook.widget(index).locator("canvas").first for index in (ATTENTION, GRID, len(KINDS))
    ]
    session = notebook.page.context.new_cdp_session(notebook.page)
    size = notebook.page.viewport_size | {"mobile": False}

    def sharpness():
        return [canvas.evaluate("e => e.width / e.clientWidth") for canvas in canvases]

    session.send("Emulation.setDeviceMetricsOverride", size | {"deviceScaleFactor": 2})
    session.send("Page.captureScreenshot")  # without a new frame the page hears of nothing
    assert notebook.soon(sharpness, [2, 2, 2]) == [2, 2, 2]
    session.send("Emulation.clearDeviceMetricsOverride")


def test_a_rerun_leaves_nothing_of_the_old_picture(notebook):
    session = notebook.page.context.new_cdp_session(notebook.page)

    def nodes():
        for _ in range(3):
            session.send("HeapProfiler.collectGarbage")
        return session.send("Memory.getDOMCounters")["nodes"]

    def rerun(index, times):
        notebook.activate(index)
        for _ in range(times):
            notebook.page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-cell')")
            notebook.page.wait_for_timeout(300)

    kept = {}
    for index, kind in enumerate(KINDS):
        rerun(index, 2)
        before = nodes()
        rerun(index, 3)
        kept[kind] = (nodes() - before) / 3
    assert all(count < 20 for count in kept.values()), kept
