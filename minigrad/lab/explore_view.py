"""How the explorer looks: pure functions from its state as plain data to HTML."""
from __future__ import annotations

from typing import Any

from .html import Html, button, code_line, join, tag, words

__all__ = ["TABS", "explorer_html"]

TABS = ("graph", "backward", "memory", "time line")
TIPS = {                        # what each kind of switch does
    "requires_grad": "requires_grad=True: what is computed from this tensor is recorded, and backward() fills its .grad",
    "no_grad": "with no_grad(): what runs inside is not recorded; flags that are there stay",
    "detach": "detach(): the same memory without history; no gradient passes here",
    "retain_grad": "retain_grad(): backward() keeps the gradient of this result in its .grad",
    "backward": "backward(): walk back from here and add to the .grad of the leaves",
}


def explorer_html(view: dict[str, Any]) -> Html:
    """The program with its switches, the controls, what changed, and the tab that is open."""
    return join([
        tag("div", *(_line(line, number) for number, line in enumerate(view["lines"], 1)),
            class_="mg-program mg-switched", key="program",
            role="toolbar", aria_label="The program and its switches", data_walk=True,
            style=f"--mg-width:{view['width']}ch"),
        _bar(view),
        tag("div", view["caption"], role="status", class_="mg-caption", key="caption"),
        tag("pre", view["error"], role="alert", class_="mg-error", key="error"),
        tag("div", words(view["notes"]), class_="mg-note", key="notes"),
        tag("div", "Now the program runs to its end. " * view["ends"] +
            "The error under this lab is that of the cell as it is written." if view["outdated"] else "",
            class_="mg-note", key="outdated", data_outdated=view["outdated"]),
        tag("div", _heading(view), class_="mg-note", key="heading"),
        tag("ul", *(tag("li", words(sentence), key=sentence.partition(" ")[0]) for sentence in view["changed"]),
            class_="mg-changes",
            aria_label="What changed, and why", key="changes"),
        tag("div", "What stands below is that of the cell itself." if view["stale"] else "",
            class_="mg-note",
            key="stale"),
        tag("div", *(button(name, {"tab": name}, class_="mg-tab", role="tab",
                            aria_selected=str(name == view["tab"]).lower(),
                            key=f"tab-{name}") for name in TABS), class_="mg-tabs", role="tablist", data_walk=True,
                            key="tabs"),
        tag("div", view["body"], class_="mg-stale" if view["stale"] else "", role="tabpanel", aria_label=view["tab"],
            key=f"body-{view['tab']}"),
        tag("pre", view["printed"], aria_label="Printed by the program", class_="mg-printed", key="printed"),
    ])


def _heading(view: dict[str, Any]) -> str:
    """What the list below tells, and what the frames in the picture do: at an earlier step that is not the same."""
    if not view["changed"]:
        return "No flag and no gradient has changed; what looks different is framed." if view["marked"] else ""
    return ("After the whole walk the switch has changed this (framed in the picture: what is different at this step):"
            if view["step"] < view["last"] else "What the switch changed (framed in the picture), and why:")


def _line(line: dict[str, Any], number: int) -> Html:
    return code_line(number, line["text"], tag("span", *map(_switch, line["switches"]), class_="mg-switches"),
                     failed=line["failed"], look=" mg-changed" * line["changed"], key=f"line-{line['origin']}")


def _switch(switch: dict[str, Any]) -> Html:
    quiet = " mg-quiet" * (not switch["on"] and not switch["flipped"])
    return tag("button", tag("span", switch["label"], class_="mg-name"),
               tag("span", "ON" if switch["on"] else "OFF", class_="mg-state"),
               type="button", role="switch", class_=f"mg-switch{quiet}" + " mg-flipped" * switch["flipped"],
               data_kind=switch["kind"], title=TIPS[switch["kind"]],
               aria_checked=str(switch["on"]).lower(), aria_label=switch["spoken"], key=f"switch-{switch['key']}",
               send={"toggle": switch["key"]})


def _bar(view: dict[str, Any]) -> Html:
    step, last = view["step"], view["last"]
    stepper = tag("div",
                  button("◀", {"step": step - 1}, bool(last and step), key="back", aria_label="One step back"),
                  tag("input", type="range", min=0, max=last, value=step, disabled=not last, key="slider",
                      class_="mg-slider", aria_label="Backward step", aria_valuetext=view["place"], send={"step": None}),
                  button("▶", {"step": step + 1}, step < last, key="forward", aria_label="One step forward"),
                  button("Play", None, bool(last), key="play", data_play="[data-id=forward]", title="Step through the backward pass"),
                  tag("span", view["place"], class_="mg-count", key="count"),
                  class_="mg-stepper", key="stepper", role="group", aria_label="Backward steps")
    return tag("div", stepper, button("Copy program", None, key="copy", data_copy=view["source"],
                                    title="The program as its switches stand"),
               button("Undo", {"undo": True}, view["undoable"], key="undo", title="Take the last switch back"),
               button("Reset", {"reset": True}, view["flipped"], key="reset", title="All switches as the cell has them"),
               class_="mg-bar", key="bar")
