"""Tracebacks in a lesson end at the student's own line."""
import traceback

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

import minigrad as mg
from minigrad.lab.traceback import install, shorten


def frames_of(function):
    with pytest.raises(Exception) as caught:
        function()
    return [frame.name for frame in traceback.extract_tb(shorten(caught.tb))], len(traceback.extract_tb(caught.tb))


def refused():
    mg.ones(1).backward()


def test_frames_of_the_engine_are_left_out_at_the_end():
    names, before = frames_of(refused)
    assert names[-1] == "refused" and len(names) < before


def test_a_users_own_function_called_by_the_engine_stays_with_the_way_to_it():
    def hook(grad):
        raise ValueError("mine")

    y = mg.ones(1, requires_grad=True) * 2
    y.register_hook(hook)
    names, before = frames_of(y.backward)
    assert names[-1] == "hook" and len(names) == before


def test_nothing_but_inside_frames_is_left_alone():
    assert shorten(None) is None


def test_an_interrupt_between_two_lines_can_be_shown():
    code = compile("raise KeyboardInterrupt", "cell", "exec").replace(co_linetable=b"")
    with pytest.raises(KeyboardInterrupt) as caught:
        exec(code)
    last = caught.tb.tb_next
    assert last.tb_lineno is None
    assert shorten(last).tb_lineno == 1


def test_an_interrupt_ends_at_the_students_line_too():
    inside = {"__name__": "minigrad.engine"}
    exec("def loops():\n    raise KeyboardInterrupt", inside)
    shell = InteractiveShell(user_ns={"works": inside["loops"]})
    install(shell)
    with capture_output() as captured:
        shell.run_cell("works()")
    shown = captured.stdout + captured.stderr
    assert "KeyboardInterrupt" in shown and "works" in shown and "loops" not in shown


def test_after_an_interrupt_the_grad_mode_is_what_it_was_before_the_cell():
    shell = InteractiveShell()
    install(shell)
    with capture_output():
        shell.run_cell("import minigrad as mg\nmg.set_grad_enabled(False)\nraise KeyboardInterrupt")
        assert mg.is_grad_enabled()
        shell.run_cell("mg.set_grad_enabled(False)")            # a cell may switch it off for those after it
        assert not mg.is_grad_enabled()
        shell.run_cell("mg.set_grad_enabled(True)\nraise KeyboardInterrupt")
        assert not mg.is_grad_enabled()
    mg.set_grad_enabled(True)
