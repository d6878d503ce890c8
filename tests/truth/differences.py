"""Where minigrad differs from PyTorch on purpose.

An entry is ``"theme::case": Difference(reason, {line of PyTorch: line of minigrad})``. The case must still
print the rest as PyTorch does, and these lines as written here: an entry that no longer differs fails.
"""
from __future__ import annotations

from typing import NamedTuple


class Difference(NamedTuple):
    """Lines of one case that minigrad prints in its own way."""

    reason: str
    lines: dict[str, str]


DIFFERENCES: dict[str, Difference] = {
    "ops_views::index_tensor_2d": Difference(
        "an index that lies in memory column by column leaves the result's layout alone",
        {"turned inputs: [((1, 2), True)]": "turned inputs: [((2, 1), True)]"}),
}

# Cases of what minigrad leaves out, ``"theme::case": name``: they end by saying that there is no such name.
NOT_OFFERED: dict[str, str] = {
    "backward::edge_of_a_leaf_outlives_its_data": "set_",
    "ops_nn::bilinear": "bilinear",
    "ops_nn::celu": "celu",
    "ops_nn::mish": "mish",
    "ops_nn::hardsigmoid": "hardsigmoid",
    "ops_nn::hardswish": "hardswish",
    "ops_nn::hardshrink": "hardshrink",
    "ops_nn::softshrink": "softshrink",
    "ops_nn::tanhshrink": "tanhshrink",
    "ops_nn::prelu": "prelu",
    "ops_nn::glu": "glu",
    "ops_nn::softmin": "softmin",
    "ops_nn::kl_div": "kl_div",
    "ops_nn::hinge_embedding_loss": "hinge_embedding_loss",
    "ops_nn::margin_ranking_loss": "margin_ranking_loss",
    "ops_nn::cosine_similarity": "cosine_similarity",
    "ops_nn::conv1d": "conv1d",
    "ops_nn::conv2d": "conv2d",
    "ops_nn::max_pool2d": "max_pool2d",
    "ops_nn::avg_pool2d": "avg_pool2d",
    "ops_reductions::det": "det",
}

# Cases that minigrad does not print as PyTorch does *yet*: faults, not decisions. Their tests are expected to fail, strictly:
# one that passes must be taken off this list.
PENDING: frozenset[str] = frozenset((
))
