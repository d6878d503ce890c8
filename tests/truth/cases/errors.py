"""What PyTorch says to a mistake: one line each, type and text."""
from __future__ import annotations

import copy
from typing import Any

import numpy as np

from ..harness import attempt, show


def _ask(mg: Any, **mistakes: Any) -> None:
    for name, do in mistakes.items():
        show(f"{name}:", attempt(do))


def _grad(mg: Any, *values: float) -> Any:
    return mg.tensor(list(values), requires_grad=True)


def shapes(mg):
    a, b = mg.ones(2, 3), mg.ones(4)
    _ask(mg,
         add=lambda: a + b,
         mul_in_place=lambda: b.mul_(a),
         in_place_broadcasts_self=lambda: mg.ones(3).add_(a),
         mm=lambda: a @ a,
         mv=lambda: a @ b,
         dot=lambda: mg.ones(2) @ mg.ones(3),
         bmm=lambda: mg.ones(2, 2, 3) @ mg.ones(2, 2, 3),
         batch=lambda: mg.ones(2, 2, 3) @ mg.ones(3, 3, 2),
         mm_method=lambda: mg.mm(b, a),
         matmul_0d=lambda: mg.tensor(1.0) @ mg.tensor(2.0),
         linear=lambda: mg.nn.functional.linear(a, mg.ones(5, 4)),
         addmm=lambda: mg.nn.functional.linear(a, mg.ones(5, 3), mg.ones(4)),
         where=lambda: mg.where(a > 0, a, b),
         cat=lambda: mg.cat([a, mg.ones(2, 2)]),
         cat_nothing=lambda: mg.cat([]),
         stack=lambda: mg.stack([a, b]),
         expand=lambda: a.expand(4, 3),
         expand_fewer=lambda: a.expand(3),
         expand_minus_1=lambda: b.expand(-1, 4),
         broadcast_to=lambda: mg.broadcast_to(b, (2, 3)),
         broadcast_tensors=lambda: mg.broadcast_tensors(a, b),
         copy=lambda: b.copy_(a),
         einsum=lambda: mg.einsum("ij,jk->ik", a, a),
         einsum_operands=lambda: mg.einsum("ij,jk->ik", a))


def views(mg):
    a = mg.arange(6.0).view(2, 3)
    _ask(mg,
         size=lambda: a.view(4),
         two_unknown=lambda: a.view(-1, -1),
         unknown_does_not_divide=lambda: a.view(-1, 4),
         negative=lambda: a.view(-2, 3),
         strides=lambda: a.t().view(6),
         reshape=lambda: a.reshape(4),
         reshape_unknown=lambda: a.reshape(4, -1),
         t=lambda: mg.ones(1, 2, 3).t(),
         transpose=lambda: a.transpose(0, 2),
         permute=lambda: a.permute(0, 0),
         permute_fewer=lambda: a.permute(0),
         squeeze=lambda: a.squeeze(2),
         unsqueeze=lambda: a.unsqueeze(3),
         flatten=lambda: a.flatten(1, 0),
         unflatten=lambda: a.unflatten(0, (3, 3)),
         select=lambda: a.select(0, 2),
         narrow=lambda: a.narrow(0, 1, 2),
         diagonal=lambda: mg.ones(2).diagonal(),
         split=lambda: a.split(-1),
         split_sizes=lambda: a.split([1, 2]),
         chunk=lambda: a.chunk(0),
         T=lambda: mg.ones(1, 2, 3).mT.shape,
         mT=lambda: mg.ones(2).mT,
         unfold=lambda: mg.ones(2).unfold(0, 3, 1),
         movedim=lambda: mg.movedim(a, 0, 2))


def view_of_many_dimensions_transposed(mg):
    show(mg.ones(1, 2, 3).T.shape)


def reductions(mg):
    a = mg.ones(2, 3)
    _ask(mg,
         sum_dim=lambda: a.sum(2),
         sum_twice=lambda: a.sum((0, 0)),
         mean_int=lambda: mg.arange(3).mean(),
         std_int=lambda: mg.arange(3).std(),
         max_empty=lambda: mg.zeros(0).max(),
         max_dim_empty=lambda: mg.zeros(0).max(0),
         argmax_empty=lambda: mg.zeros(0).argmax(),
         softmax_int=lambda: mg.arange(3).softmax(0),
         softmax_dim=lambda: a.softmax(2),
         sort_dim=lambda: a.sort(2),
         topk=lambda: a.topk(4),
         cumsum=lambda: a.cumsum(2),
         gather_dims=lambda: a.gather(0, mg.tensor([0])),
         gather_range=lambda: a.gather(1, mg.tensor([[3]])),
         gather_float=lambda: a.gather(1, mg.tensor([[0.0]])),
         scatter_range=lambda: a.clone().scatter_(1, mg.tensor([[3]]), 1.0))


def reduction_of_nothing(mg):
    show(mg.zeros(0).sum(), mg.zeros(0).prod(), mg.zeros(0).mean(), mg.zeros(1).std())


def indexing(mg):
    a = mg.ones(2, 3)
    _ask(mg,
         too_large=lambda: a[2],
         too_negative=lambda: a[-3],
         second_dimension=lambda: a[0, 3],
         too_many=lambda: a[0, 0, 0],
         of_0d=lambda: mg.tensor(1.0)[0],
         slice_of_0d=lambda: mg.tensor(1.0)[:],
         float_index=lambda: a[1.0],
         string_index=lambda: a["x"],
         negative_step=lambda: a[::-1],
         list_range=lambda: a[[0, 2]],
         tensor_range=lambda: a[mg.tensor([5])],
         float_tensor=lambda: a[mg.tensor([0.0])],
         mask_shape=lambda: a[mg.tensor([True, False, True])],
         two_lists=lambda: a[[0, 1], [0, 1, 2]],
         store_shape=lambda: a.__setitem__(0, mg.ones(2)),
         store_mask=lambda: a.__setitem__(a > 0, mg.ones(2)),
         store_range=lambda: a.__setitem__(2, 1.0),
         store_string=lambda: a.__setitem__(0, "x"),
         delete=lambda: a.__delitem__(0),
         index_select_float=lambda: a.index_select(0, mg.tensor([0.0])),
         index_select_range=lambda: a.index_select(0, mg.tensor([2])),
         masked_fill_float=lambda: a.masked_fill(a, 0.0),
         iterate_0d=lambda: list(mg.tensor(1.0)),
         len_0d=lambda: len(mg.tensor(1.0)))


def conversions(mg):
    x = _grad(mg, 1.0, 2.0)
    _ask(mg,
         item=lambda: x.item(),
         item_of_none=lambda: mg.zeros(0).item(),
         to_bool=lambda: bool(x),
         empty_bool=lambda: bool(mg.zeros(0)),
         to_float=lambda: float(x),
         to_int=lambda: int(x),
         as_index=lambda: [1, 2][mg.tensor(1.0)],
         numpy=lambda: x.numpy(),
         numpy_of_result=lambda: (x * 2).numpy(),
         asarray=lambda: np.asarray(x),
         deepcopy=lambda: copy.deepcopy(x * 2),
         tensor_of_strings=lambda: mg.tensor("x"),
         tensor_of_list_of_strings=lambda: mg.tensor(["x"]),
         tensor_of_ragged=lambda: mg.tensor([[1], [1, 2]]),
         tensor_of_mixed=lambda: mg.tensor([1, [2]]),
         tensor_of_none=lambda: mg.tensor(None),
         tensor_of_dict=lambda: mg.tensor({}),
         tensor_of_nothing=lambda: mg.tensor(),
         many_in_list=lambda: mg.tensor([mg.ones(2), mg.ones(2)]),
         from_list=lambda: mg.from_numpy([1.0]))


def dtypes(mg):
    i, x = mg.tensor([1, 2]), _grad(mg, 1.0, 2.0)
    _ask(mg,
         integer_requires_grad=lambda: mg.tensor([1], requires_grad=True),
         bool_requires_grad=lambda: mg.tensor([True], requires_grad=True),
         set_on_integer=lambda: i.requires_grad_(),
         assign_on_integer=lambda: setattr(i, "requires_grad", True),
         zeros_integer=lambda: mg.zeros(2, dtype=mg.int64, requires_grad=True),
         cast_in_place=lambda: i.add_(1.5),
         divide_in_place=lambda: i.div_(2),
         exp_in_place=lambda: i.exp_(),
         bool_minus=lambda: mg.tensor([True]) - mg.tensor([True]),
         bool_negated=lambda: -mg.tensor([True]),
         invert_float=lambda: ~x,
         and_float=lambda: x & x,
         mm_mixed=lambda: mg.ones(2, 2) @ mg.ones(2, 2, dtype=mg.float64),
         dot_mixed=lambda: mg.ones(2) @ mg.ones(2, dtype=mg.float64),
         linear_mixed=lambda: mg.nn.functional.linear(mg.ones(1, 2), mg.ones(2, 2, dtype=mg.float64)),
         mm_int_float=lambda: mg.ones(2, 2) @ mg.ones(2, 2, dtype=mg.int64),
         integer_power=lambda: i ** -1,
         where_condition=lambda: mg.where(i, x, x),
         cross_entropy_target=lambda: mg.nn.functional.cross_entropy(mg.ones(1, 2), mg.tensor([0.0])),
         embedding_index=lambda: mg.nn.functional.embedding(mg.tensor([0.0]), mg.ones(2, 2)),
         abs_bool=lambda: mg.tensor([True]).abs(),
         sum_string=lambda: x.sum("a"),
         add_string=lambda: x + "1",
         add_none=lambda: x + None,
         mul_list=lambda: x * [1, 2],
         compare_none=lambda: x == None,  # noqa: E711
         less_string=lambda: x < "a")


def leaves(mg):
    x = _grad(mg, 2.0)
    y = x * 2
    frozen = mg.tensor([1.0])
    _ask(mg,
         turn_off=lambda: setattr(y, "requires_grad", False),
         turn_on=lambda: setattr(y, "requires_grad", True),
         turn_off_method=lambda: y.requires_grad_(False),
         turn_on_method=lambda: y.requires_grad_() is y,
         retain_without_grad=lambda: frozen.retain_grad(),
         retain_leaf=lambda: x.retain_grad(),
         hook_without_grad=lambda: frozen.register_hook(print),
         hook_post_on_result=lambda: y.register_post_accumulate_grad_hook(print),
         hook_post_without_grad=lambda: frozen.register_post_accumulate_grad_hook(print),
         assign_is_leaf=lambda: setattr(x, "is_leaf", False),
         assign_grad_fn=lambda: setattr(x, "grad_fn", None),
         assign_version=lambda: setattr(x, "_version", 3),
         assign_retains_grad=lambda: setattr(x, "retains_grad", True),
         grad_of_number=lambda: setattr(x, "grad", 1.0),
         grad_of_shape=lambda: setattr(x, "grad", mg.ones(2)),
         grad_of_dtype=lambda: setattr(x, "grad", mg.ones(1, dtype=mg.float64)),
         grad_of_itself=lambda: setattr(x, "grad", x),
         data_of_list=lambda: setattr(x, "data", [1.0]),
         detach_view=lambda: x.view(1).detach_(),
         requires_grad_of_text=lambda: setattr(x, "requires_grad", "yes"),
         requires_grad_of_number=lambda: setattr(x, "requires_grad", 1))


def in_place(mg):
    x = _grad(mg, 1.0, 2.0)
    y = x * 1
    _ask(mg,
         leaf=lambda: x.add_(1),
         leaf_operator=lambda: x.__iadd__(1),
         leaf_item=lambda: x.__setitem__(0, 1.0),
         leaf_zero=lambda: x.zero_(),
         leaf_copy=lambda: x.copy_(mg.ones(2)),
         view_of_leaf=lambda: x[0].add_(1),
         view_of_leaf_item=lambda: x.view(2).__setitem__(0, 1.0),
         expanded=lambda: mg.ones(1).expand(3).add_(1),
         expanded_item=lambda: mg.ones(1, 1).expand(3, 3)[0].__setitem__(slice(None), 2.0),
         expanded_tracked=lambda: (x[:1] * 1).expand(3).mul_(2),
         one_of_many=lambda: y.unbind()[0].add_(1),
         one_of_chunks=lambda: y.chunk(2)[0].mul_(2),
         one_of_rows=lambda: next(iter(y)).zero_(),
         partial_overlap=lambda: y[:1].add_(y[1:]) is not None,
         overlap=lambda: mg.arange(4.0)[1:].add_(mg.arange(4.0)[:-1]) is not None,
         out=lambda: mg.add(x, x, out=mg.zeros(2)),
         out_shape=lambda: mg.add(mg.ones(2), mg.ones(2), out=mg.zeros(3)).shape)


def in_place_on_shared_memory_that_overlaps(mg):
    a = mg.arange(4.0)
    show(attempt(lambda: a[1:].add_(a[:-1])))
    show(attempt(lambda: a[1:].copy_(a[:-1])))
    show(a)


def backward(mg):
    x = _grad(mg, 1.0, 2.0)
    frozen = mg.tensor([1.0])
    _ask(mg,
         many_elements=lambda: (x * 2).backward(),
         no_graph=lambda: frozen.sum().backward(),
         no_graph_many=lambda: mg.ones(2).backward(),
         integer=lambda: mg.tensor(1).backward(),
         wrong_shape=lambda: (x * 2).backward(mg.ones(3)),
         wrong_shape_of_scalar=lambda: x.sum().backward(mg.ones(2)),
         number=lambda: (x * 2).backward(2.0),
         list_of_numbers=lambda: (x * 2).backward([1.0, 1.0]),
         integer_gradient=lambda: (x * 2).backward(mg.ones(2, dtype=mg.int64)),
         no_inputs=lambda: x.sum().backward(inputs=[]),
         input_without_grad=lambda: x.sum().backward(inputs=[frozen]),
         functional_shape=lambda: mg.autograd.backward([x.sum()], [mg.ones(1)]),
         functional_count=lambda: mg.autograd.backward([x.sum(), x.sum()], [mg.ones(())]),
         functional_none=lambda: mg.autograd.backward([x * 2], [None]),
         functional_empty=lambda: mg.autograd.backward([]),
         functional_text=lambda: mg.autograd.backward([x.sum()], ["a"]))


def grad(mg):
    x, other = _grad(mg, 1.0, 2.0), _grad(mg, 3.0)
    frozen = mg.tensor([1.0])
    _ask(mg,
         unused=lambda: mg.autograd.grad(x.sum(), other),
         unused_allowed=lambda: mg.autograd.grad(x.sum(), other, allow_unused=True),
         unused_zero=lambda: mg.autograd.grad(x.sum(), other, materialize_grads=True),
         unused_contradiction=lambda: mg.autograd.grad(x.sum(), other, allow_unused=False, materialize_grads=True),
         frozen=lambda: mg.autograd.grad(x.sum(), frozen),
         frozen_output=lambda: mg.autograd.grad(frozen.sum(), x),
         many_elements=lambda: mg.autograd.grad(x * 2, x),
         no_inputs=lambda: mg.autograd.grad(x.sum(), []),
         not_a_tensor=lambda: mg.autograd.grad(x.sum(), 1.0),
         wrong_shape=lambda: mg.autograd.grad(x * 2, x, mg.ones(3)),
         wrong_count=lambda: mg.autograd.grad([x * 2], x, [mg.ones(2), mg.ones(2)]),
         only_inputs=lambda: mg.autograd.grad(x.sum(), x, only_inputs=False),
         second_without_create=lambda: mg.autograd.grad(mg.autograd.grad((x * x).sum(), x)[0].sum(), x),
         second_of_constant=lambda: mg.autograd.grad(mg.autograd.grad((x * 2).sum(), x, create_graph=True)[0].sum(), x))


def freed_graph(mg):
    x = _grad(mg, 1.0, 2.0)
    y = (x * x).sum()
    y.backward()
    show(attempt(lambda: y.backward()))
    show(attempt(lambda: mg.autograd.grad(y, x)))
    z = x.exp()
    z.sum().backward()
    show(attempt(lambda: z.grad_fn._saved_result))
    w = x * x
    w.sum().backward()
    show(attempt(lambda: w.grad_fn._saved_self))


def versions(mg):
    x = _grad(mg, 1.0, 2.0)
    a = x * 2
    b = a * a
    a.add_(1)
    show(attempt(lambda: b.sum().backward()))
    show(attempt(lambda: b.grad_fn._saved_self))
    c = x.exp()
    c.add_(1).add_(1)
    show(attempt(lambda: c.sum().backward()))
    d = mg.tensor([1.0, 2.0])
    e = x * d
    d[0] = 5.0
    show(attempt(lambda: e.sum().backward()))
    f = x.sigmoid()
    f.data.zero_()
    show(attempt(lambda: f.sum().backward()), x.grad)
    g = x.sigmoid()
    g.detach().zero_()
    show(attempt(lambda: g.sum().backward()))
    h = x.exp()
    h.view(1, 2).mul_(2)
    show(attempt(lambda: h.sum().backward()))
    leaf = _grad(mg, 1.0)
    k = leaf * leaf
    with mg.no_grad():
        leaf -= 0.5
    show(attempt(lambda: k.backward()))
    weight = mg.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    hidden = mg.ones(1, 2) @ weight
    result = hidden @ weight.t()
    with mg.no_grad():
        weight.mul_(2)
    show(attempt(lambda: result.sum().backward()))
    index = mg.tensor([0, 1])
    picked = x[index]
    index[0] = 1
    show(attempt(lambda: picked.sum().backward()))
    m = x * 1
    mask = m > 0
    n = mg.where(mask, m, m)
    mask.logical_not_()
    show(attempt(lambda: n.sum().backward()))


def arguments(mg):
    x = mg.ones(2, 3)
    _ask(mg,
         sum_unknown=lambda: x.sum(dims=0),
         tensor_device=lambda: mg.tensor(1.0, device="nowhere"),
         zeros_of_float=lambda: mg.zeros(1.5),
         zeros_negative=lambda: mg.zeros(-1),
         zeros_text=lambda: mg.zeros("a"),
         arange_step=lambda: mg.arange(0, 1, 0),
         arange_sign=lambda: mg.arange(0, 1, -1),
         linspace=lambda: mg.linspace(0, 1, -1),
         eye=lambda: mg.eye(-1),
         no_attribute=lambda: x.foo,
         view_float=lambda: x.view(1.0),
         exp_of_number=lambda: mg.exp(1.0),
         sum_of_list=lambda: mg.sum([1.0]),
         cat_of_tensor=lambda: mg.cat(x),
         cat_of_numbers=lambda: mg.cat([1.0, 2.0]),
         stack_of_none=lambda: mg.stack([]),
         clamp_nothing=lambda: x.clamp(),
         pow_text=lambda: x ** "2",
         format_many=lambda: f"{x:.2f}",
         format_one=lambda: f"{mg.tensor(1.5):.2f}",
         unknown_dtype=lambda: mg.zeros(1, dtype="float32"),
         generator=lambda: mg.manual_seed("a"))


def losses(mg):
    F = mg.nn.functional
    x = mg.ones(2, 3)
    _ask(mg,
         target_range=lambda: F.cross_entropy(x, mg.tensor([0, 3])),
         target_count=lambda: F.cross_entropy(x, mg.tensor([0])),
         nll_range=lambda: F.nll_loss(x, mg.tensor([0, -1])),
         nll_count=lambda: F.nll_loss(x, mg.tensor([0])),
         nll_dimensions=lambda: F.nll_loss(mg.tensor(1.0), mg.tensor(0)),
         mse_shape=lambda: F.mse_loss(x, mg.ones(4)),
         mse_broadcast=lambda: F.mse_loss(x, mg.ones(3)),
         bce_shape=lambda: F.binary_cross_entropy(x, mg.ones(3)),
         bce_range=lambda: F.binary_cross_entropy(2 * x, x),
         bce_logits_shape=lambda: F.binary_cross_entropy_with_logits(x, mg.ones(3)),
         reduction=lambda: F.mse_loss(x, x, reduction="average"),
         dropout=lambda: F.dropout(x, 1.5),
         softmax_without_dim=lambda: F.softmax(x),
         layer_norm=lambda: F.layer_norm(x, (2,)),
         embedding_range=lambda: F.embedding(mg.tensor([5]), x),
         one_hot=lambda: F.one_hot(mg.tensor([3]), 2))


def a_result_of_several(mg):
    x = mg.ones(2, requires_grad=True)
    _ask(mg, **{name: lambda do=do: do().backward() for name, do in {
        "max": lambda: x.max(0), "topk": lambda: x.topk(1), "median": lambda: x.median(0), "sort": lambda: x.sort()}.items()})
    show(type(x.max(0)).__name__, type(x.max(0)).__module__)


def arrays_are_no_tensors(mg):
    t = mg.ones(3, 4)
    for name, value in {"array": np.ones(4), "float32": np.float32(3), "bool": np.False_, "half": np.float16(3), "float64": np.float64(3),
                        "int64": np.int64(4), "uint8": np.uint8(5)}.items():
        show(f"{name}:", attempt(lambda value=value: t.__setitem__((0, 0), value)), t[0, 0])
    _ask(mg,
         arange=lambda: [mg.arange(kind(3)) for kind in (np.int64, np.int32, np.uint8, np.float32, np.float64)],
         arange_to=lambda: mg.arange(0, np.int64(3), np.int64(2)),
         arange_of_an_array=lambda: mg.arange(np.array(3)),
         full_of_an_array=lambda: mg.full((2,), np.array(3)),
         full_like_an_array=lambda: mg.full_like(t, np.array(3)),
         full_of_what_requires_grad=lambda: mg.full((2,), mg.ones((), requires_grad=True)),
         full_of_one_element=lambda: mg.full((2,), mg.ones(1)),
         full_of_no_dimension=lambda: mg.full((2,), mg.tensor(2)),
         new_full=lambda: t.new_full((2,), mg.ones((), requires_grad=True)),
         linspace=lambda: mg.linspace(0, 1, 3.0),
         linspace_between_tensors=lambda: mg.linspace(mg.zeros(()), mg.ones(()), mg.tensor(3)),
         linspace_to_a_vector=lambda: mg.linspace(0, mg.ones(1), 3),
         logspace=lambda: mg.logspace(0, 1, 3.0))


def without_dimensions(mg):
    s = mg.tensor(1.0)
    _ask(mg,
         size=lambda: s.size(0),
         stride=lambda: s.stride(-1),
         stride_out_of_range=lambda: mg.ones(2, 3).stride(5),
         number=lambda: s[0],
         tensor=lambda: s[mg.tensor(0)],
         array=lambda: s[np.array(0)],
         fraction=lambda: s[1.5],
         written=lambda: s.__setitem__(mg.tensor(0), 2),
         turned=lambda: (s.T, s.mT))


def masks_and_fractions(mg):
    t = mg.arange(12.0).view(3, 4)
    _ask(mg,
         mask=lambda: t[mg.ones(3, 3) > 0],
         mask_behind=lambda: mg.ones(2, 3, 4)[:, mg.ones(3, 3) > 0],
         written=lambda: t.__setitem__(mg.ones(3, 3) > 0, 1),
         list_of_fractions=lambda: t[[1.5]],
         array_of_fractions=lambda: t[np.array([1.5])],
         tensor_of_fractions=lambda: t[mg.tensor([1.5])],
         one_fraction=lambda: t[mg.tensor(1.5)],
         bytes=lambda: t[np.array([1, 0, 1], np.uint8)],
         one_byte=lambda: t[mg.tensor(1, dtype=mg.uint8)])


def flags_are_no_numbers(mg):
    x, t = mg.ones(2, requires_grad=True), mg.ones(3, 4)
    for name in ("sum", "mean", "prod", "nansum", "argmax", "max", "amax", "std", "any", "logsumexp", "median", "mode", "sort", "argsort"):
        show(f"{name}:", attempt(lambda name=name: getattr(x, name)(0, 1)))
    _ask(mg,
         keyword=lambda: x.sum(0, keepdim=1),
         none=lambda: x.sum(0, None),
         function=lambda: mg.sum(x, 0, 1),
         numpy=lambda: x.mean(0, np.True_),
         topk=lambda: x.topk(1, 0, 1),
         numpy_sum=lambda: np.sum(t),
         numpy_mean=lambda: np.mean(t, axis=0))


def results_without_derivative(mg):
    x = mg.ones(2, requires_grad=True)
    _ask(mg, **{f"{name} {dtype}": lambda name=name, args=args, dtype=dtype: getattr(x, name)(*args, dtype=getattr(mg, dtype))
                for dtype in ("int64", "int32") for name, args in (("sum", ()), ("prod", (0,)), ("nansum", ()), ("cumsum", (0,)))})
    _ask(mg,
         unique=lambda: (x.unique().grad_fn, x.unique(return_inverse=True, return_counts=True)),
         unique_backward=lambda: x.unique().sum().backward(),
         unique_rows=lambda: (x.unique(dim=0).grad_fn, x.unique(dim=0).sum().backward()))
    for mean, std in ((x, 1.0), (1.0, x), (x, x), (mg.ones(3, 1), x)):
        drawn = mg.normal(mean, std)
        drawn.sum().backward()
        show(drawn.grad_fn, drawn.requires_grad, drawn.shape, x.grad)


def written_wrongly(mg):
    x, t = mg.ones(2), mg.ones(3, 4)
    _ask(mg,
         type=lambda: [x.type(name).dtype for name in ("torch.DoubleTensor", "torch.LongTensor", mg.HalfTensor, mg.float64)],
         type_name=lambda: x.type("double"),
         type_class=lambda: x.type(float),
         type_number=lambda: x.type(1),
         repeat=lambda: x.repeat(-1, 1),
         tile=lambda: x.tile(-1),
         fill=lambda: x.fill_(mg.ones(2)),
         fill_list=lambda: x.fill_([1]),
         fill_array=lambda: x.fill_(np.array(2.0)),
         copy=lambda: x.copy_([1]),
         copy_array=lambda: x.copy_(np.ones(2)),
         index_fill=lambda: x.index_fill_(0, mg.tensor([5]), 1.0),
         index_fill_back=lambda: x.index_fill(0, mg.tensor([-1]), 3.0),
         index_fill_vector=lambda: x.index_fill_(0, mg.tensor([0]), mg.ones(2)),
         index_copy=lambda: t.index_copy_(1, mg.tensor([5]), mg.ones(3, 1)),
         index_copy_back=lambda: x.index_copy_(0, mg.tensor([-1]), mg.ones(1)),
         index_add=lambda: x.index_add_(0, mg.tensor([5]), mg.ones(1)),
         index_add_rows=lambda: t.index_add_(0, mg.tensor([5]), mg.ones(1, 4)))


def singular(mg):
    for rows in [[[1.0, 2.0], [2.0, 4.0]], [[0.0, 0.0], [0.0, 0.0]], [[2.0, 4.0, 1.0], [1.0, 2.0, 3.0], [4.0, 8.0, 7.0]], [[0.0]]]:
        matrix = mg.tensor(rows)
        show(attempt(lambda m=matrix: m.inverse()), attempt(lambda m=matrix: mg.linalg.inv(mg.stack([mg.eye(len(m)), m]))))
    show(mg.linalg.LinAlgError.__name__, mg.linalg.LinAlgError.__mro__[1:3])


def equations(mg):
    x = mg.ones(2)
    show(mg.einsum(x, [0]), mg.einsum(x, [0], x, [0]), mg.einsum(x, [0], x, [1], [0, 1]),
         mg.einsum(mg.ones(2, 3), [..., 1], [1, ...]).shape)
    _ask(mg, number=lambda: mg.einsum(3, x), nothing=lambda: mg.einsum(), alone=lambda: mg.einsum("i"), none=lambda: mg.einsum(None, x))


def what_cannot_be_set(mg):
    x = mg.ones(2, 2)
    for name in ["T", "mT", "H", "mH", "dtype", "shape", "is_leaf", "grad_fn"]:
        show(name, attempt(lambda name=name: setattr(x, name, 1)))
    for value in [mg.int64, 3, "float32", float, None]:
        show(attempt(lambda value=value: mg.set_default_dtype(value)))
    show(attempt(lambda: mg.add(x, 1, out=mg.ones(3, dtype=mg.int64))))


def a_vector_of_another_length_does_not_stretch(mg):
    """Also not one of length 1, with a stack of matrices that cannot be folded into one."""
    stack = mg.ones(2, 1, 2).expand(2, 2, 2)
    show(attempt(lambda: stack @ mg.ones(1)), attempt(lambda: mg.ones(2, 2, 2) @ mg.ones(1)), attempt(lambda: mg.ones(1) @ stack))


def whole_numbers_of_a_wider_type_are_written_into_few_places(mg):
    nothing, stretched = mg.zeros(0).byte(), mg.zeros(1, dtype=mg.uint8).expand(3)
    nothing *= mg.zeros(0, dtype=mg.int64)
    show(nothing, attempt(lambda: stretched.mul_(mg.ones(3, dtype=mg.int64))))
