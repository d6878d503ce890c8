"""``%livegraph``: one panel with all named tensors of the notebook, which is drawn again after every cell."""
from __future__ import annotations

from typing import Any

from IPython import get_ipython
from IPython.core.interactiveshell import InteractiveShell
from IPython.display import display

from ..picture import Figure, draw_names
from ..why import notebook_lines
from .changes import changes, state
from .html import Html, join, picture, tag, words
from .widget import LabWidget

__all__ = ["LiveGraph", "livegraph"]

_panels: list[LiveGraph] = []


class LiveGraph:
    """The panel. In JupyterLab "Create New View for Cell Output" in its context menu puts it beside the notebook.

    Attributes
    ----------
    figure : Figure
        What it shows now.
    changed : list of str
        What the last cell changed, and why.
    """

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell, self.changed = shell, []
        self._state = state(shell.user_ns)
        self.figure = self._draw()
        self.widget = LabWidget(lambda message: None, lambda: self.figure._repr_mimebundle_(), self._html())
        shell.events.register("post_run_cell", self.redraw)

    def redraw(self, result: Any = None) -> None:
        """Draw the notebook's tensors as they are; IPython calls it after every cell."""
        if result is not None and not result.info.store_history:
            return                                      # not a cell: a front end asked the kernel something
        names = self._shell.user_ns
        before, self._state, self.figure = self._state, state(names), self._draw()
        self.changed = changes(before, self._state, names, notebook_lines(names.get("In", [])))
        self.widget.html = self._html()

    def close(self) -> None:
        """Draw no more."""
        self._shell.events.unregister("post_run_cell", self.redraw)
        self.widget.close()

    def _draw(self) -> Figure:
        return draw_names({n: v for n, v in self._shell.user_ns.items() if not n.startswith("_")}, prefix="live")

    def _html(self) -> Html:
        said = tag("ul", *(tag("li", words(sentence)) for sentence in self.changed), class_="mg-changes", key="changes",
                   role="status",
                   aria_label="What the last cell changed, and why")
        return join([picture(self.figure), said])

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        return self.widget._repr_mimebundle_(**kwargs)


def livegraph(line: str = "") -> None:
    """Show the notebook's named tensors in a panel that follows every cell; ``%livegraph off`` ends that."""
    while _panels:
        _panels.pop().close()
    if line.strip() != "off":
        _panels.append(LiveGraph(get_ipython()))
        display(_panels[0])
