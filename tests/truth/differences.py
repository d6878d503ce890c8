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
    # A tensor with another storage: minigrad's tensors and their views rely on keeping theirs.
    "backward::edge_of_a_leaf_outlives_its_data": "set_",
    # The node keeps an LU decomposition, which NumPy does not give.
    "ops_reductions::det": "det",
    # Images: loops over windows, which NumPy makes too slow to learn from.
    **{f"ops_nn::{name}": name for name in ("conv1d", "conv2d", "max_pool2d", "avg_pool2d")},
    # Activations and losses that no course on autograd needs; each is a formula of what is there.
    **{f"ops_nn::{name}": name for name in (
        "bilinear", "celu", "mish", "hardsigmoid", "hardswish", "hardshrink", "softshrink", "tanhshrink", "prelu", "glu",
        "kl_div", "hinge_embedding_loss", "margin_ranking_loss", "cosine_similarity")},
}

# Cases that minigrad does not print as PyTorch does *yet*: faults, not decisions. Their tests are expected to fail, strictly:
# one that passes must be taken off this list.
PENDING: frozenset[str] = frozenset((
))
