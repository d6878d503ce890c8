"""How a prediction gate looks: pure functions from its state to HTML, live and stored."""
from __future__ import annotations

from typing import TYPE_CHECKING

from .html import Html, button, code, join, picture, tag, words

if TYPE_CHECKING:
    from .gate import Ask, Gate, Option

__all__ = ["gate_html", "gate_static"]


def gate_html(gate: Gate) -> Html:
    """The gate as it stands: the program, the questions, and what may be seen of the answers."""
    failed = gate.outcome.failure.line if gate.revealed and gate.outcome.failure else None
    return join([
        tag("div", tag("strong", "Predict"), " ", words(gate.question or _what(gate)), class_="mg-question", key="question"),
        code(gate.program, failed),
        tag("div", *(_options(gate) if gate.options else [_row(gate, ask) for ask in gate.asks]), class_="mg-asks",
            key="asks"),
        _bar(gate),
        tag("div", _status(gate), role="status", class_="mg-caption", key="status"),
        *(_revealed(gate) if gate.revealed else ()),
    ])


def gate_static(gate: Gate) -> dict[str, str]:
    """What a stored notebook holds: the question without its answer. It must not depend on what anybody answered."""
    question = gate.question or _what(gate)
    lines = [f"{option.letter}  {option.text}" for option in gate.options] or [
        f"{ask.text}:  {' / '.join(ask.choices) or '?'}" for ask in gate.asks if ask.text != "error"]
    lines += ["Does the program raise an error, and in which line?"] if "error" in gate.answers and not gate.options else []
    ending = "Run the cell to answer."
    items = join(tag("li", *([tag("strong", line[0]), words(line[1:])] if gate.options else [tag("code", line)]))
                 for line in lines)
    return {"text/html": join([tag("p", tag("strong", "Predict"), " ", words(question)), tag("pre", gate.program.rstrip()),
                               tag("ul", items), tag("p", tag("em", ending))]),
            "text/plain": "\n".join([f"Predict: {question}", "", gate.program, *lines, "", ending])}


def _label(ask: Ask) -> str:
    return "does it raise an error?" if ask.text == "error" else ask.text


def _what(gate: Gate) -> str:
    if gate.options:
        return f"What is {', '.join(gate.answers)} after this program?"
    return "What does this program leave behind? Answer each line."


# Letters --------------------------------------------------------------------------------------------------------------

def _options(gate: Gate) -> list[Html]:
    return [tag("div", *(_option(gate, option) for option in gate.options), role="group", aria_label="Answers",
                data_walk=True, class_="mg-options", key="options")]


def _option(gate: Gate, option: Option) -> Html:
    chosen, right = gate.guesses.get("") == option.letter, gate.is_right(option)
    look = "" if not gate.revealed else " mg-right" if right else " mg-wrong" if chosen else ""
    mark = "" if not gate.revealed else "✓ " if right else "✗ " if chosen else ""
    press = tag("button", tag("strong", f"{mark}{option.letter}"), " ", words(option.text), type="button",
                class_=f"mg-option{look}",
                key=f"option-{option.letter}", aria_pressed=str(chosen).lower(), data_key=option.letter.lower(),
                disabled=gate.committed or gate.revealed, send={"guess": "", "value": option.letter})
    votes = [_hands(gate, option, number) for number in range(len(gate.votes) or 1)] if gate.counting else []
    told = gate.revealed and option.believes
    belief = tag("div", words(option.meaning("Who chooses this")), class_="mg-belief") if told else ""
    hands = tag("div", *votes, class_="mg-votes") if votes else ""
    return tag("div", press, hands, belief, class_="mg-choice", key=f"choice-{option.letter}")


def _hands(gate: Gate, option: Option, number: int) -> Html:
    """The hands of one vote for one letter: a field in the vote that is open, a number in one that is closed, and a bar."""
    vote = gate.votes[number] if gate.votes else {}
    count, all_hands = vote.get(option.letter, 0), sum(vote.values())
    name = f"hands for {option.letter}, vote {number + 1}"
    if number == max(0, len(gate.votes) - 1) and not gate.revealed:
        said = tag("input", type="number", min=0, max=999, value=count or "", placeholder="hands", aria_label=name,
                   class_="mg-hands", key=f"hands-{option.letter}-{number}", send={"hands": option.letter})
    else:
        said = tag("strong", count)
    bar = tag("span", class_="mg-bar-of-hands", style=f"width:{count / max(all_hands, 1):.0%}")
    return tag("div", said, tag("span", bar), class_="mg-vote", title=f"{name}: {count} of {all_hands}",
               key=f"vote-{option.letter}-{number}")


# The table ------------------------------------------------------------------------------------------------------------

def _row(gate: Gate, ask: Ask) -> Html:
    guess, locked = gate.guesses.get(ask.text, ""), gate.committed or gate.revealed
    number = gate.asks.index(ask)
    label = _label(ask)
    if ask.choices:
        answer = tag("span", *(
            button(choice, {"guess": ask.text, "value": choice}, not locked, "mg-choose", key=f"guess-{number}-{i}",
                   aria_pressed=str(guess == choice).lower()) for i, choice in enumerate(ask.choices)),
            role="group", aria_label=label, data_walk=True, class_="mg-guess", key=f"guess-{number}")
    else:
        answer = tag("input", type="text", value=guess, placeholder="None, or a value", aria_label=label,
                     disabled=locked, key=f"guess-{number}", class_="mg-field", spellcheck="false", autocomplete="off",
                     send={"guess": ask.text})
    return tag("div", tag("code", label, class_="mg-asked"), answer, *(_verdict(gate, ask) if gate.revealed else ()),
               class_="mg-row", key=f"row-{number}")


def _verdict(gate: Gate, ask: Ask) -> list[Html]:
    right = gate.hits(ask)
    mark = tag("span", "✓ " if right else "✗ ", tag("code", gate.answers[ask.text].text),
               class_="mg-right" if right else "mg-wrong")
    belief = "" if right else gate.belief(ask)
    said = words(" ".join(filter(None, [belief and f"Who answers this believes: {belief}.", gate.reason(ask)])))
    return [mark, tag("div", said, class_="mg-belief")] if said else [mark]


# Around it ------------------------------------------------------------------------------------------------------------

def _bar(gate: Gate) -> Html:
    return tag("div", *(
        button(text, {"do": do}, enabled, key=f"do-{do}", title=hint) for do, text, enabled, there, hint in (
            ("commit", "Commit", gate.complete and not gate.committed and not gate.revealed, True,
             "This is my answer"),
            ("count", "Hide hands" if gate.counting else "Count hands (class)", not gate.revealed, bool(gate.options),
             "In a class: how many chose each answer?"),
            ("vote", "Second vote", len(gate.votes) == 1 and sum(gate.votes[0].values()) > 0 and not gate.revealed,
             bool(gate.options) and gate.counting, "In a class: hands once more, after the talk"),
            ("reveal", "Reveal", gate.may_reveal and not gate.revealed, True, "What does the program say?"),
            ("again", "Again", gate.committed or gate.revealed or bool(gate.votes), True, "Forget my answer, and the hands")) if there),
        class_="mg-bar", key="bar")


def _status(gate: Gate) -> str:
    right, of = gate.score
    trouble = f" ({gate.trouble})" if gate.trouble else ""
    if gate.revealed:
        return (_result(gate, right, of) if gate.committed else "") + trouble
    if gate.committed:
        return "Committed. Reveal when you are ready." + trouble
    if gate.counting:
        return ("Type the hands for each letter; then Second vote, after the talk, or Reveal." if len(gate.votes) < 2 else
                "Type the hands once more; then Reveal. Grey is the first vote, blue the second.") + trouble
    if not gate.complete and not gate.options:
        left = sum(not gate.guesses.get(ask.text) for ask in gate.asks)
        return f"{left} of {of} still to answer" + trouble
    return ("Commit when you are sure." if gate.complete else "Choose a letter.") + trouble


def _result(gate: Gate, right: int, of: int) -> str:
    if not gate.options:
        return f"{right} of {of} right"
    answer = next(option.letter for option in gate.options if gate.is_right(option))
    return (f"Your answer, {answer}, is what the program does." if right else
            f"Your answer, {gate.guesses['']}, is not what the program does. {answer} is.")


def _revealed(gate: Gate) -> list[Html]:
    failed = gate.outcome.failure
    figure, asked = gate.picture()
    answers = [(ask.text, gate.answers[ask.text]) for ask in gate.asks if ask.text != "error"] if gate.options else []
    return [tag("ul", *(tag("li", tag("code", text), " ", tag("code", answer.text.partition(":")[0] if answer.raised else answer.text))
                        for text, answer in answers), class_="mg-asked-about", key="answers"),
            tag("pre", failed.text, class_="mg-error", key="error") if failed else join([]),
            tag("div", words(failed.notes), class_="mg-note", key="notes") if failed and failed.notes else join([]),
            tag("pre", gate.outcome.printed, class_="mg-printed", key="printed") if gate.outcome.printed else join([]),
            tag("div", "Asked about: what has a broad frame.", class_="mg-note", key="about") if asked else join([]),
            picture(figure, asked)]
