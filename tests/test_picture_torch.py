"""Pictures of real PyTorch graphs, and the audit of models in both libraries. Without PyTorch, minigrad's half runs."""
import ast
import linecache

import pytest

import minigrad as mg
from minigrad.picture import Recorder, audit, draw, draw_names, record
from minigrad.picture.program import is_accumulator

try:
    import torch
except ImportError:
    torch = None
needs_torch = pytest.mark.skipif(torch is None, reason="needs PyTorch")

EXPRESSIONS = [
    "x * y", "x + y * 2", "(x - y) ** 2", "x / (y + 3)", "(x @ y.T).exp()", "x.sum() * y", "x.view(4) * 2", "torch.relu(x - y).mean()",
    "x.unbind()[0] * y", "torch.stack([x, y]).sum(0)", "x.detach() * y", "-x[0]", "x.clone().mul_(y)", "torch.cat([x, y, x])", "x * c",
    "x.max(1)[0] * x.min(1)[0]", "torch.nn.functional.linear(x, y, y[0])", "torch.nn.functional.cross_entropy(x, torch.tensor([0, 1]))",
    "torch.where(c > 5, x, y).softmax(1)", "x.std() + torch.linalg.vector_norm(y)", "torch.einsum('ij,jk->ik', x, y)",
    "torch.autograd.grad((x ** 3).sum(), x, create_graph=True)[0] * y"]


def edges_of(root):
    """The nodes behind a tensor and the edges between them, by PyTorch's own word."""
    nodes, edges = [root.grad_fn], []
    for node in nodes:
        for child, _ in node.next_functions:
            if child is not None:
                edges.append((node, child))
                if child not in nodes and not is_accumulator(child):
                    nodes.append(child)
    return nodes, edges


def prepared():
    return {"torch": torch, "x": torch.tensor([[1., 2.], [3., 5.]], requires_grad=True), "c": torch.tensor([[5., 6.], [7., 8.]]),
            "y": torch.tensor([[.5, 1.], [2., 1.]], requires_grad=True)}


@needs_torch
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_drawn_edges_are_next_functions(expression):
    namespace = prepared()
    z = namespace["z"] = eval(expression, namespace)
    nodes, edges = edges_of(z)
    walked = Recorder()
    walked.adopt([z], namespace, 1000)
    with Recorder() as recorded:
        namespace["z2"] = eval(expression, namespace)
    for recorder, root in ((walked, z), (recorded, namespace["z2"])):
        nodes, edges = edges_of(root)
        model = recorder.model(namespace)
        drawn = {op.id: call.nodes for op, call in zip(model.ops, recorder.calls, strict=True)}
        assert {node for call in drawn.values() for node in call} >= set(nodes)
        owner = {node: id for id, own in drawn.items() for node in own}
        names = {id(namespace[name]): card.id for card in model.cards for name in ("x", "y") if card.name == name}
        wanted = [(owner[node], names[id(child.variable)] if is_accumulator(child) else owner[child]) for node, child in edges]
        assert {(a, b) for a, b in wanted if a != b} <= {(edge.source, edge.target) for edge in model.edges}
        assert len(model.edges) == sum(is_accumulator(child) or owner[child] != id
                                       for id, own in drawn.items() for node in own for child, _ in node.next_functions if child)


SOURCE = """x = torch.tensor([1., 2., 3.], requires_grad=True)
y = x.detach()
a = x ** 2
with torch.no_grad():
    b = a + 1
y[0] = 9.
x.register_hook(lambda grad: grad * 2)
c = x.data
d = (x * 2).sum()
d.backward()
"""


@needs_torch
def test_a_recording_shows_what_was_not_recorded():
    name = "<torch picture>"
    linecache.cache[name] = len(SOURCE), None, SOURCE.splitlines(True), name
    namespace = {"torch": torch}
    with Recorder(name) as recorder:
        exec(compile(ast.parse(SOURCE), name, "exec"), namespace)
    recorder.names = {key: namespace[key] for key in "xyabcd"}
    text = recorder.figure().describe()
    for sentence in (
            "x = [9., 2., 3.], leaf, requires_grad True, grad [4., 4., 4.], a hook changes its gradient [2., 2., 2.] → [4., 4., 4.], "
            "version 1.",
            "x.detach() makes y (before line 6): a cut, the same storage without history.",
            "a = x ** 2: recorded as PowBackward0, x was v0, is v1 now: raises, leads back to x's AccumulateGrad.",
            "a + 1 makes b: not recorded, grad_fn None.",
            "b = [ 2., 5., 10.], leaf, requires_grad False, grad None (not asked), made while recording was off.",
            "x.data makes c: a cut, the same storage without history.",
            "x and y and c share one storage of 12 bytes, version 1: 9 (was 1), 2, 3; written by y[0] = 9."):
        assert sentence in text.splitlines(), text
    assert [block.title for block in recorder.model().blocks] == ["with torch.no_grad():"]
    assert recorder.steps == 3 and "x.grad was None, receives [4., 4., 4.]" in recorder.model(step=3).caption


@needs_torch
def test_parameters_have_the_names_of_their_modules():
    net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
    loss = net(torch.ones(1, 2)).sum()
    model = draw(loss, model=net, names={}).model
    assert {card.name for card in model.cards} >= {"0.weight", "0.bias", "1.weight", "1.bias"}
    assert [op.helpers for op in model.ops if op.text.startswith("linear(")] == [1, 1]


def test_the_names_of_a_notebook():
    x = mg.tensor([1., 2.], requires_grad=True)
    figure = draw_names({"x": x, "y": x * 2, "alone": mg.tensor(3.), "view": x.detach(), "n": 3})
    assert [card.name for card in figure.model.cards if card.drawn] == ["x", "y", "alone", "view"]
    assert figure.model.memories[0].names == ["x", "view"] and figure.svg
    assert draw_names({}).svg and draw_names({}).describe() == "Nothing to draw."


BROKEN = """def model(lib, how):
    F = lib.nn.functional

    class Net(lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.c = lib.nn.Linear(2, 3), lib.nn.Linear(3, 3), lib.nn.Linear(3, 1)

        def forward(self, x):
            h = F.relu(self.a(x))
            if how == "detach":
                h = h.detach()
            if how == "no_grad":
                with lib.no_grad():
                    h = self.b(h)
            elif how == "rewrap":
                h = lib.tensor(self.b(h).tolist())
            elif how == "data":
                h = self.b(h)
                h = h.data
            elif how == "lost":
                self.b(h)
            elif how != "unused":
                h = self.b(h)
            return self.c(h)
    return Net()
"""
CUTS = {                        # which parameters get nothing, what is said of it, and of which line
    "detach": ("a", "`h.detach()` cuts it off", "h = h.detach()"),
    "no_grad": ("ab", "`self.b(h)` ran while recording was off: with lib.no_grad()", "h = self.b(h)"),
    "rewrap": ("ab", "the loss does not use what was computed from it, last by `self.b(h)`", "h = lib.tensor(self.b(h).tolist())"),
    "data": ("ab", "cuts it off: the same numbers without history", None),
    "lost": ("b", "the loss does not use what was computed from it, last by `self.b(h)`", "self.b(h)"),
    "unused": ("b", "the loss does not use it", ""),
    "frozen": ("a", "its requires_grad is False: it is frozen", ""),
    "fine": ("", "", ""),
}


@pytest.mark.parametrize("how", CUTS)
@pytest.mark.parametrize("lib", [mg, pytest.param(torch, marks=needs_torch)], ids=["minigrad", "torch"])
def test_audit_finds_the_cut(lib, how):
    name, namespace = "<broken models>", {}
    linecache.cache[name] = len(BROKEN), None, BROKEN.splitlines(True), name
    exec(compile(BROKEN, name, "exec"), namespace)
    net = namespace["model"](lib, how)
    if how == "frozen":
        for parameter in net.a.parameters():
            parameter.requires_grad_(False)
    layers, why, source = CUTS[how]
    found = audit(net, lambda: net(lib.ones(4, 2)).sum())
    assert [finding.name for finding in found] == [f"{layer}.{kind}" for layer in layers for kind in ("weight", "bias")]
    for finding in found:
        assert why in finding.why and (source is None or finding.source == source), finding
    loss = net(lib.ones(4, 2)).sum()
    for finding in audit(net, loss):
        assert "no recorded path leads from the loss to it" == finding.why or how == "frozen"
    loss.backward()
    assert {n for n, parameter in net.named_parameters() if parameter.grad is None} == {finding.name for finding in found}


def test_audit_knows_what_was_recorded_and_says_it_in_sentences():
    net = mg.nn.Linear(2, 1)
    with record(show=False):
        loss = net(mg.ones(1, 2)).detach().sum()
    assert str(audit(net, loss)).startswith("2 of 2 parameters get no gradient:\n  weight: `….detach()` cuts it off") and str(
        audit(net, net(mg.ones(1, 2)))) == "All 2 parameters get a gradient."
    assert "give audit() a function" in repr(audit(net, mg.ones(1)))
    with pytest.raises(TypeError, match="takes the loss or a function that computes it, not float"):
        audit(net, 1.0)
