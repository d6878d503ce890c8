"""The bench measures the same work for everyone: otherwise its ratios would say nothing. Times are not tested."""
import importlib.util

import numpy as np
import pytest

from . import work, worker

WORK = {
    "forward": ("chain", {"n": 20, "mode": "forward"}), "no_grad": ("chain", {"n": 20, "mode": "no_grad"}),
    "chain": ("chain", {"n": 20}), "wide": ("wide", {"n": 100}), "broadcasting": ("broadcasting", {"n": 5}),
    "mlp": ("mlp", {"sizes": [6, 5, 4, 3], "batch": 4, "steps": 3, "lr": 0.1}),
}


@pytest.fixture(params=["minigrad", "torch"])
def peer(request):
    if importlib.util.find_spec(request.param) is None:
        pytest.skip("PyTorch is not installed")
    return request.param


def twice(peer, method, args):
    """Results of the second time: nothing may be left of the first."""
    run, results = getattr(work.of(peer), method)(**args)
    run()
    run()
    return results()


@pytest.mark.parametrize("name", WORK)
def test_everyone_does_the_same_work(name, peer):
    results = twice(peer, *WORK[name])
    assert len(results) > 0
    assert work.disagreement(results, twice("numpy", *WORK[name])) is None


def test_everyone_keeps_the_same_layers(peer):
    seen = []
    results = work.of(peer).layers(3, 4, seen.append)
    assert seen == ["start", "after"]
    assert work.disagreement(results, work.of("numpy").layers(3, 4, seen.append)) is None


@pytest.mark.parametrize("ours, said", [
    ([np.ones(2)], "1 results and 2"), ([np.ones(2), np.ones(1)], "result 1 has the shapes (1,) and ()"),
    ([np.ones(2), np.float32(1.01)], "result 1 differs by 0.01"), ([np.ones(2), np.float32(1)], None)])
def test_other_work_is_noticed(ours, said):
    assert work.disagreement(ours, [np.ones(2), np.float32(1)]) == said


def test_a_worker_answers():
    peer = worker.Worker("minigrad")
    first = peer.prepare("key", "chain", {"n": 10}, seconds=0.001)
    assert work.disagreement(first, peer.once("chain", {"n": 10})[0]) is None
    assert peer.sample("key") > 0
