"""Tracebacks in a lesson end at the student's own line."""
import traceback

import pytest

import minigrad as mg
from minigrad.lab.traceback import shorten


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
