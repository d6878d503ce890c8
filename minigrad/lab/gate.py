"""The prediction gate: commit an answer, then see. What is right is never written down: the program is run."""
from __future__ import annotations

import ast
import contextlib
import hashlib
import math
import re
import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..picture import Figure, Recorder
from ..picture.figure import chosen_detail
from ..picture.program import is_tensor
from ..reasons import RULES
from ..why import explained, lines_of
from . import notebook
from .gate_view import gate_html, gate_static
from .run import Outcome, Snapshot, failure, run
from .widget import LabWidget

__all__ = ["Answer", "Ask", "Gate", "Option", "agrees", "gate"]

FLAGS = ("requires_grad", "is_leaf", "retains_grad")
DOES = ("backward", "retain_grad", "numpy")             # besides every name that ends in "_": calls that work or raise
CLOSE = 5e-3                                            # a gradient typed with three digits is right


@dataclass(frozen=True)
class Ask:
    """One thing to predict: an expression or statement behind the program, or "error"; without `choices` one writes."""

    text: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Answer:
    """What the program said: as text, and whether by an error."""

    text: str
    raised: bool = False


@dataclass(frozen=True)
class Option:
    """One of A to D: what it says, what it claims of each question, and what somebody who chooses it believes."""

    letter: str
    text: str
    claims: tuple[str, ...]
    believes: str

    def meaning(self, who: str) -> str:
        """What the choice means, as a sentence: what begins with a small letter goes on after `who`."""
        return f"{who} {self.believes}" if self.believes[:1].islower() else self.believes


class Gate:
    """A question about a program, which hides its answers until an answer has been given.

    Every control is a method too: ``g.commit("B")`` or ``g.commit({"x.grad": "6", "y.grad": None})``, ``g.reveal()``,
    ``g.vote(A=3, B=12)`` for hands that were counted, ``g.again()``.

    Attributes
    ----------
    answers : dict
        What the program says to each question. (Reading it is peeking.)
    guesses : dict
        What was committed, or is being filled in.
    votes : list of dict
        Hands per letter, one dict a vote.
    """

    def __init__(self, program: str, asks: Sequence[str], options: Mapping[str, Any], question: str, name: str,
                 believes: Mapping[str, Mapping[str, str]], namespace: dict[str, Any]) -> None:
        self.program, self.question = program.strip("\n") + "\n", question
        self.asks = [_ask(text, self.program) for text in asks]
        self.believes = believes
        self._snapshot = Snapshot("\n".join([self.program, *(ask.text for ask in self.asks)]), namespace)
        self.name = name or hashlib.sha1("\n".join([self.program, *asks, *options]).encode()).hexdigest()[:8]
        self._file, self._detail = f"<gate {self.name}>", chosen_detail()
        # a last value is not shown, as it is below a cell: it would stand beside the answer
        self.outcome: Outcome = run(f"{self.program}None\n", self._snapshot, self._file, contextlib.nullcontext())
        self.answers = {ask.text: self._answer(ask) for ask in self.asks}
        self.options = [self._option(*item) for item in zip("ABCDEFGH", options.items(), strict=False)]
        right = [option for option in self.options if self.is_right(option)]
        if options and len(right) != 1:
            said = ", ".join(self.says.values())
            raise ValueError(f"{len(right)} options agree with the program, which answers {said}")
        self.guesses: dict[str, str] = {}
        self.votes: list[dict[str, int]] = []
        self.committed = self.revealed = self.counting = False
        self.trouble = ""
        self._recall()
        self.widget = LabWidget(self._pressed, lambda: gate_static(self), gate_html(self))

    # What is right ----------------------------------------------------------------------------------------------------

    @property
    def says(self) -> dict[str, str]:
        """The answers as texts."""
        return {text: answer.text for text, answer in self.answers.items()}

    def is_right(self, option: Option) -> bool:
        """Whether an option says what the program says."""
        return all(agrees(claim, answer) for claim, answer in zip(option.claims, self.answers.values(), strict=True))

    @property
    def score(self) -> tuple[int, int]:
        """How many of how many questions were answered as the program answers them."""
        if self.options:
            chosen = next((o for o in self.options if o.letter == self.guesses.get("")), None)
            return int(chosen is not None and self.is_right(chosen)), 1
        return sum(map(self.hits, self.asks)), len(self.asks)

    def hits(self, ask: Ask) -> bool:
        """Whether this question was answered as the program answers it."""
        return agrees(self.guesses.get(ask.text, "?"), self.answers[ask.text])

    def belief(self, ask: Ask) -> str:
        """What somebody believes who answers so, as far as the question's author says."""
        guess = self.guesses.get(ask.text, "")
        return next((text for wrong, text in self.believes.get(ask.text, {}).items() if agrees(guess, Answer(wrong))),
                    "")

    def reason(self, ask: Ask) -> str:
        """Why the program answers as it does, if the question is about an attribute of a tensor."""
        name, _, attribute = ask.text.rpartition(".")
        tensor, failed = self.outcome.namespace.get(name), self.outcome.failure
        if not is_tensor(tensor) or attribute not in RULES:
            return ""
        lines = lines_of(self.program)
        why = explained(tensor, attribute, name, self.outcome.namespace, lines, failed.text if failed else "")
        return f"{why.because} {why.mend}".strip()

    @property
    def complete(self) -> bool:
        """Whether every question has an answer."""
        return "" in self.guesses if self.options else all(self.guesses.get(ask.text) for ask in self.asks)

    def picture(self) -> tuple[Figure, list[str]]:
        """The picture of the program, for after the reveal, and the ids of the tensors that were asked about.

        What a question computes, ``x * y`` in ``(x * y).requires_grad``, is computed behind the program and shown too.
        """
        about = list(dict.fromkeys(filter(None, (_about(ask.text) for ask in self.asks))))
        more = [] if self.outcome.failure else [f"_asked{i} = {text}\n" for i, text in enumerate(about) if not text.isidentifier()]
        recorder = Recorder(self._file)
        names = run(self.program + "".join(more), self._snapshot, self._file, recorder).namespace
        model = recorder.model(names | {text: names.get(f"_asked{i}") for i, text in enumerate(about) if text not in names})
        return Figure(model, prefix=f"gate{self.name}", detail=self._detail), [c.id for c in model.cards if c.name in about and not c.past]

    def _answer(self, ask: Ask) -> Answer:
        """Run the program afresh, so that each question is tried alone, and ask."""
        if ask.text == "error":
            failed = self.outcome.failure
            return Answer(f"line {failed.line}" if failed else "no error", bool(failed))
        outcome = run(self.program, self._snapshot, self._file, contextlib.nullcontext())
        try:
            # PyTorch warns of reading a result's .grad, which would be a hint
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if not _is_expression(ask.text):
                    exec(ask.text, outcome.namespace)
                    return Answer("works")
                value = eval(ask.text, outcome.namespace)
        except Exception as error:                      # whatever the question raises is its answer
            return Answer(failure(error, "").text, True)
        return Answer("works" if ask.choices == ("works", "raises") else _text(value))

    def _option(self, letter: str, item: tuple[str, Any]) -> Option:
        text, meaning = item
        if isinstance(meaning, str):            # then the text is the answer itself
            claims = [text] if len(self.asks) == 1 else [part.strip() for part in text.split(",")]
            text, believes = f"`{text}`", meaning
        else:
            believes, claims = meaning
            claims = [claims] if isinstance(claims, str) else claims
        if len(claims) != len(self.asks):
            asked = ", ".join(self.answers)
            raise ValueError(f"option {letter} must claim {len(self.asks)} things, one for each of {asked}")
        return Option(letter, text, tuple(map(str, claims)), believes)

    # What can be done -------------------------------------------------------------------------------------------------

    def commit(self, guess: str | Mapping[str, Any] | None = None) -> None:
        """Give the answer: a letter, or one answer per question; without an argument, what is filled in.

        Raises
        ------
        ValueError
            If a question has no answer, or if there is no such letter or question.
        """
        if guess is not None:
            guesses = {"": guess.upper()} if isinstance(guess, str) else {key: str(value) for key,
                                                                          value in guess.items()}
            known = [o.letter for o in self.options] if self.options else [ask.text for ask in self.asks]
            wrong = [g for g in (guesses.values() if self.options else guesses) if g not in known]
            if wrong:
                raise ValueError(f"{wrong[0]!r} is none of {', '.join(known)}")
            self.guesses |= guesses
        if not self.complete:
            raise ValueError("answer everything first")
        self.committed = True
        self._keep()

    def vote(self, **hands: int) -> None:
        """Count hands: ``g.vote(A=3, B=12)``. Called again, it is the vote after the discussion."""
        if not hands or not set(hands) <= {option.letter for option in self.options}:
            letters = ", ".join(option.letter for option in self.options)
            raise ValueError(f"hands are counted for {letters or 'options only'}")
        self.votes.append({letter: int(count) for letter, count in hands.items()})
        self.counting = True
        self._keep()

    def reveal(self) -> None:
        """Show what the program says.

        Raises
        ------
        RuntimeError
            If neither an answer was committed nor hands were counted.
        """
        if not self.may_reveal:
            raise RuntimeError("commit an answer first")
        self.revealed = True
        self._keep()

    @property
    def may_reveal(self) -> bool:
        """Whether an answer was committed or hands were counted."""
        return self.committed or any(sum(vote.values()) for vote in self.votes)

    def again(self) -> None:
        """Begin anew: hide the answers and forget what was guessed."""
        self.guesses, self.votes = {}, []
        self.committed = self.revealed = False
        self._keep()

    def _pressed(self, message: dict[str, Any]) -> None:
        """What the widget's controls do."""
        if "guess" in message and not self.committed:
            self.guesses[message["guess"]] = str(message["value"]).strip()
        elif "hands" in message:
            vote = self.votes[-1] if self.votes else {}
            vote[message["hands"]] = max(0, int(message["value"] or 0))
            self.votes[-1:] = [vote]
        elif "do" in message:
            {"commit": self.commit, "reveal": self.reveal, "again": self.again,
             "count": self._count, "vote": lambda: self.votes.append({})}[message["do"]]()
        self._show()

    def _count(self) -> None:
        self.counting = not self.counting

    def _keep(self) -> None:
        right, of = self.score
        record = {"question": self.question or ", ".join(self.answers), "guesses": self.guesses, "votes": self.votes,
                  "right": right, "of": of, "revealed": self.revealed}
        self.trouble = notebook.keep(self.name, record if self.committed or self.votes else None)
        self._show()

    def _recall(self) -> None:
        """Fill in what was answered on another day; it is not revealed by that. Hands are of one class: they are counted anew."""
        record = notebook.kept().get(self.name)
        known = {""} if self.options else set(self.answers)
        if record and (set(record["guesses"]) | known == known):
            self.guesses = dict(record["guesses"])
            self.committed = self.complete

    def _show(self) -> None:
        self.widget.html = gate_html(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        return self.widget._repr_mimebundle_(**kwargs)


def gate(program: str, *asks: str, options: Mapping[str, Any] | None = None, question: str = "", name: str = "",
         believes: Mapping[str, Mapping[str, str]] | None = None) -> Gate:
    """Ask what a program does before it is shown.

    Parameters
    ----------
    program : str
        Runs by itself, from a copy of the notebook's names that it reads.
    *asks : str
        What to predict: ``"y.requires_grad"`` (True or False), ``"x.grad"`` (None or numbers),
        ``"z.requires_grad_(False)"`` (works or raises; tried alone, behind the program), ``"error"`` (does the program
        raise, and where?).
    options : mapping, optional
        One question with letters instead: each option's text, with what it means to choose it, said after the reveal: a
        sentence, or the rest of one that begins with who chose (``"believes that detach() copies. It shares."``). The
        text is the answer that it claims (``"None"``, or ``"True, False"`` to two asks); if it is prose, give
        ``(believes, claims)``. In these texts, as in the question, `code` and **words** may be marked as in Markdown.
    question : str
        The question in words.
    name : str
        Under which the answer is kept; by default a number made of the program and the questions.
    believes : mapping, optional
        For the table: to a question, the belief behind a wrong answer,
        ``{"x.grad": {"0": "the flag allocates a gradient"}}``.

    Returns
    -------
    Gate
        Show it as the last line of a cell.
    """
    return Gate(program, asks, options or {}, question, name, believes or {}, sys._getframe(1).f_globals)


def agrees(guess: Any, answer: Answer) -> bool:
    """Whether a guess means what the program said: "6", "[6.]" and "tensor([6.])" are one, and so are all errors."""
    guess = " ".join(str(guess).split())
    if answer.raised:
        said = guess.lower().partition(":")[0]
        return guess.lower() == answer.text.lower() or "raise" in said or "error" in said and said != "no error"
    ours, theirs = _numbers(guess), _numbers(answer.text)
    if ours is None or theirs is None:
        return guess.strip("<>").lower() == answer.text.lower()
    return len(ours) == len(theirs) and all(math.isclose(a, b, rel_tol=CLOSE, abs_tol=1e-9) for a,
                                            b in zip(ours, theirs, strict=True))


def _numbers(text: str) -> list[float] | None:
    """The numbers that a text consists of, brackets and PyTorch's decorations left out; None if it is not numbers."""
    inner = re.sub(r"^tensor\(|, (dtype|requires_grad|grad_fn)=.*|\)$", "", text)
    try:
        return [float(part) for part in re.sub(r"[\[\]()]", " ", inner).replace(",", " ").split()] or None
    except ValueError:
        return None


def _ask(text: str, program: str) -> Ask:
    """What may be answered follows from the question's text alone; the answer has no part in it."""
    if text == "error":
        return Ask(text, ("no error", *(f"line {n}" for n, line in enumerate(program.splitlines(), 1) if line.strip())))
    node = ast.parse(text).body[0]
    if not isinstance(node, ast.Expr):
        return Ask(text, ("works", "raises"))
    value = node.value
    name = value.func.attr if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) else ""
    if name in DOES or name.endswith("_"):
        return Ask(text, ("works", "raises"))
    truth = isinstance(value, (ast.Compare, ast.BoolOp)) or isinstance(value, ast.Attribute) and value.attr in FLAGS
    return Ask(text, ("True", "False") if truth else ())


def _about(text: str) -> str:
    """The tensor that a question is about, as the program would write it: ``x * y`` of ``(x * y).requires_grad``."""
    node = getattr(ast.parse(text).body[0], "value", None)
    node = node.func if isinstance(node, ast.Call) else node
    return ast.unparse(node.value) if isinstance(node, ast.Attribute) else ast.unparse(node) if isinstance(node, ast.Name) else ""


def _is_expression(text: str) -> bool:
    return isinstance(ast.parse(text).body[0], ast.Expr)


def _text(value: Any) -> str:
    """A value as the program would print it; a node by its name, since its own text has an address."""
    if hasattr(value, "next_functions"):
        return value.name()
    return " ".join(repr(value).split()) if not isinstance(value, tuple) else ", ".join(map(_text, value))
