"""Amounts in sentences: written in many ways, and read back."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

LARGEST = 1e9
"""Largest amount of a sentence. No field can be so large, so a greater number is none."""

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_NUMBERS = {word: number for number, word in enumerate(_ONES)}
_NUMBERS |= {word: 10 * number for number, word in enumerate(_TENS, start=2)} | {"nought": 0}

_MASK = "some"
_MOST_OF = 100
_PERCENT = 100
_PARTS = {"hundredth": 100, "tenth": 10, "fifth": 5, "quarter": 4, "fourth": 4, "third": 3}
_PARTS |= {"half": 2, "eighth": 8, "sixth": 6, "twentieth": 20}
_PLURALS = {f"{name}s": size for name, size in _PARTS.items()} | {"halves": 2}

_SIMPLE = {Fraction(1, 2): "half", Fraction(1, 4): "a quarter", Fraction(3, 4): "three quarters"}
_SIMPLE |= {Fraction(each, 5): f"{_ONES[each]} fifths" for each in (2, 3, 4)}
_SIMPLE |= {Fraction(1, 5): "a fifth", Fraction(1, 10): "a tenth", Fraction(3, 2): "one and a half"}
_SIMPLE |= {Fraction(5, 2): "two and a half", Fraction(1): "one", Fraction(2): "two"}

_SIZES = "|".join([*_PLURALS, *_PARTS])
_WORD = "(?:" + "|".join(["hundred", *sorted(_NUMBERS, key=len, reverse=True)]) + ")"
_DIGIT = f"(?:{'|'.join(_ONES[:10])})"
_SERIES = rf"{_WORD}(?:(?:[ -]|(?<=hundred) and ){_WORD}){{0,7}}"
_ALL = "(?:full|whole|entire)"
_WORDS = rf"\b(?:an? (?=hundred))?{_SERIES}(?: point {_SERIES})?\b|\ban?(?= (?:{_SIZES})\b)"
_WORDS += rf"|\ba(?= {_ALL} point\b)|\ba(?= (?:{_ALL} )?point and (?:an? )?(?:{_SIZES})\b)"
_NO_PLACE = "this that the a no any some which on see my your our every".split()
_WORDS += "|" + "".join(rf"(?<!\b{each} )" for each in _NO_PLACE)  # at this point two of them left
_WORDS += rf"\bpoint {_DIGIT}(?: {_DIGIT})*\b(?!\s*:)"  # Point two: who may bid
_UNIT = rf"(?:\s*-?\s*(?P<unit>%|pct\b|per ?cent\b|(?:{_SIZES})\b))?"
_OUT_OF = r"(?:\s+(?:out of|in|of)(?: every)?\s+(?P<whole>\d+|" + "|".join(_NUMBERS) + r")\b)?"
_NO_AMOUNT = r"(?<![\w.,/-])"  # parts of dates, -0.2
_NO_THOUSANDS = r"(?![1-9]\d{0,2}(?:,\d{3})+(?!\d))"  # 2,500 is out of range, or 2.5: nobody knows
_GROUPED = r"[1-9]\d{0,2}(?:[\s'\u2019]\d{3})+(?!\d)"  # 1 000
_AMOUNT = re.compile(
    rf"{_NO_AMOUNT}{_NO_THOUSANDS}"
    rf"(?>(?P<number>{_GROUPED}|(?:\d{{1,2}} (?=\d/))?\d{{1,9}}/\d{{1,9}}(?![\d/])"
    r"|\d{1,9}(?:[.,]\d{1,9})?(?![\d/])"
    rf"|[.,]\d{{1,9}}|{_WORDS}|\bhalf\b))"
    rf"(?P<more>(?:\s+(?:{_ALL}\s+)?points?)?\s+and\s+an?\s+(?P<part>{_SIZES})\b"
    r"|(?:\s+points?\s+and|\s+and(?=\s+half\s+points?\b))\s+half\b(?!\s+(?:of|the)\b))?"
    rf"{_UNIT}{_OUT_OF}",
    re.IGNORECASE,
)
# Numbers that are named together: 0.2-0.4, 20 to 40 percent.
_RANGE = re.compile(r"(?<![\d.,/-])(\d+(?:[.,]\d+)?%?)-(?=[.,]?\d+(?:[.,]\d+)?(?![\d/-]))")
_DASHES = ("-", "\u2013", "\u2014")

# What tells that a number is money, or counted in thousands.
_SIGNS = "[€$£¥]"
_CURRENCIES = "EUR USD GBP CHF JPY CAD AUD SEK NOK DKK Fr kr".split()
_COINS = "dollars? euros? pounds? cents? pence francs? yen kron[ae]r? kronor sterling".split()
_LARGE = "thousands? millions? billions?".split()
_LARGE_BESIDE = "k m mn bn".split()
_PART_OF_A = r"(?:(?<=half)|\s+of)\s+an?\s+"  # half a million
_MONEY = "|".join([*_CURRENCIES, *_COINS, *_LARGE, *_LARGE_BESIDE])
_BEFORE_MONEY = re.compile(
    rf"(?:{_SIGNS}|\b(?:{'|'.join(_CURRENCIES)})\.?|\b(?:{'|'.join(_LARGE)})(?:\s+and)?)\s*$",
    re.IGNORECASE,
)
_AFTER_MONEY = re.compile(
    rf"(?:\s*|-){_SIGNS}|(?:\s*|-|{_PART_OF_A})(?:(?:US|Swiss)\s+)?(?:{_MONEY})\b"
    rf"|{_PART_OF_A}(?:per ?cent|pct)\b",
    re.IGNORECASE,
)
_FARTHEST = 20  # characters before an amount in which a currency may stand

_FULL = r"(?:full|whole|entire)\s+(?:top\s+)?value\b"
_OF_VALUE = re.compile(
    rf"\b(?P<other>(?:triple|thrice|times|under|part of|fraction of)\s+(?:the\s+|its\s+)?){_FULL}"
    r"|\b(?P<double>twice|double)\b(?=\s+(?:the|its|their|his|her|what|that|top)\b)"
    rf"(?:\s+(?:the|its)\s+{_FULL})?|\b{_FULL}",
    re.IGNORECASE,
)
"""Amounts in words: twice the value, or all of it. They count in a text that has no others."""


def written(amount: float, rng: np.random.Generator) -> str:
    """Return an amount from 0 to 3, in hundredths, in one of the ways in which people write it."""
    hundredths = round(100 * amount)
    ways = [f"{amount:g}", f"{hundredths} percent", f"{_in_words(hundredths)} percent"]
    ways += [f"{hundredths}%"]
    if Fraction(hundredths, 100) in _SIMPLE:
        ways += [_SIMPLE[Fraction(hundredths, 100)]] * 2
    if hundredths % 10 == 0 and hundredths not in (0, 10):
        ways.append(f"{_in_words(hundredths // 10)} tenths")
    elif hundredths % 10 and hundredths < 100:
        ways.append(f"{_in_words(hundredths)} hundredths")
    return str(rng.choice(ways))


def amounts_in(text: str) -> list[float]:
    """Return the amounts that a sentence names, in order: fractions, decimals, percent, in words.

    Amounts with a unit (percent, tenths, two out of five) or a decimal mark come alone if there are
    any, because words such as *one* seldom are amounts. In *20 to 40 percent* both have the unit.
    Money and what is counted in thousands are no amounts.
    """
    of_value = [each for each in _OF_VALUE.finditer(text) if not each["other"]]
    found = [each.amount for each in _found(text)]
    return found or [2.0 if each["double"] else 1.0 for each in of_value]


def masked(text: str) -> str:
    """Return a sentence with each amount of ``amounts_in`` replaced by one and the same word.

    *Twice*, *double* and *full value* stay: they are amounts only where nothing else is one.
    """
    return masked_with_places(text)[0]


def masked_with_places(text: str) -> tuple[str, list[int]]:
    """Return a sentence as ``masked`` does, and where each of its characters stood before."""
    pieces, places, end = [], list[int](), 0
    for each in _found(text):
        pieces += [text[end : each.start], _MASK]
        places += [*range(end, each.start), *[each.start] * len(_MASK)]
        end = each.end
    return "".join([*pieces, text[end:]]), [*places, *range(end, len(text))]


def _in_words(number: int) -> str:
    if number >= 100:
        rest = f" and {_in_words(number % 100)}" if number % 100 else ""
        return f"{_ONES[number // 100]} hundred{rest}"
    if number < 20:
        return _ONES[number]
    ones = f"-{_ONES[number % 10]}" if number % 10 else ""
    return f"{_TENS[number // 10 - 2]}{ones}"


@dataclass
class _Found:
    """A number in a text.

    Attributes:
        start: Place of its first character.
        end: Place after its last one.
        number: The number, without its unit.
        unit: What it is divided by; None if no unit is named.
        sure: Whether its form leaves no doubt that it is an amount.
        money: Whether it is money, or counted in thousands.
    """

    start: int
    end: int
    number: float
    unit: float | None
    sure: bool
    money: bool

    @property
    def amount(self) -> float:
        return round(self.number / (self.unit or 1), 4)

    def share(self, other: _Found, unit: float | None) -> None:
        """Take over what another number, which is named together with this one, is."""
        if self.unit is None:
            self.money |= other.money
            self.unit = None if self.sure else unit
            self.sure |= other.sure


def _found(text: str) -> list[_Found]:
    """Return what ``amounts_in`` takes for amounts, with their places."""
    text = _RANGE.sub("\\1\u2013", text)  # as long as before; a hyphen would be a minus
    numbers = [each for match in _AMOUNT.finditer(text) if (each := _read(text, match))]
    together = [pair for pair in pairwise(numbers) if _together(text, *pair)]
    for left, right in reversed(together):
        left.share(right, right.unit)
    for left, right in together:
        right.share(left, _PERCENT if left.unit == _PERCENT else None)
    amounts = [each for each in numbers if not each.money]
    return [each for each in amounts if each.sure] or amounts


def _together(text: str, left: _Found, right: _Found) -> bool:
    """Return whether two numbers are named together, as in *between 20 and 40 percent*."""
    joint = text[left.end : right.start].strip().lower()
    if joint == "and":
        between = text[: left.start].rstrip().lower().endswith("between")
        return between or not (left.sure or left.money)
    in_digits = [not text[each.start].isalpha() for each in (left, right)]
    if joint in _DASHES:
        return all(in_digits)  # beside words a dash parts sentences
    amount = in_digits[1] or right.unit is not None  # not: 30 percent to one buyer
    return joint in ("to", "or") and (
        amount or text[: left.start].lower().rstrip().endswith("from")
    )


def _read(text: str, match: re.Match[str]) -> _Found | None:
    """Return the number of a match; None if there is none, or one that is too large."""
    raw = match["number"].lower()
    number = _number(raw)
    if number is None:
        return None
    sure = any(mark in raw for mark in "./,") or raw == "half" or "point" in raw
    unit: float | None = None
    if match["more"]:
        number, sure = number + 1 / _size(match["part"] or "half"), True
    if match["unit"]:
        unit = _size(match["unit"])
    elif match["whole"]:
        unit = _number(match["whole"].lower())
        if not unit or unit > _MOST_OF:
            return None  # two in 2025
    found = _Found(*match.span(), number, unit, sure or unit is not None, _is_money(text, match))
    return found if found.amount <= LARGEST else None


def _is_money(text: str, match: re.Match[str]) -> bool:
    start, end = match.span()
    before = _BEFORE_MONEY.search(text, max(0, start - _FARTHEST), start)
    return bool(before or _AFTER_MONEY.match(text, end))


def _size(unit: str) -> int:
    unit = unit.lower()
    if unit in ("%", "pct") or unit.startswith("per"):
        return _PERCENT
    return _PLURALS.get(unit) or _PARTS[unit]


def _number(text: str) -> float | None:
    """Return a number in digits or in words; None if there is none, as in *a* or *and* alone."""
    if text == "half":
        return 0.5
    if "/" in text:
        *wholes, fraction = text.split(" ")
        above, below = map(int, fraction.split("/"))
        return sum(map(int, wholes)) + above / below if below else None
    if text[0].isdigit() or text[0] in ".,":
        return float(re.sub(r"[\s'\u2019]", "", text).replace(",", "."))
    whole, _, decimals = text.partition("point")
    total = _whole(whole)
    if decimals.strip():
        digits = [_NUMBERS.get(word) for word in decimals.split()]
        if any(each is None or each > 9 for each in digits):
            return None
        return (total or 0.0) + sum(
            float(each or 0) / 10.0**place for place, each in enumerate(digits, start=1)
        )
    return total


def _whole(text: str) -> float | None:
    """Return a whole number in words, such as *one hundred and fifty*, *forty-five* or *a*."""
    words = [each for each in re.split(r"[ -]+", text.strip()) if each and each != "and"]
    if not words:
        return None
    total = 0
    for word in words:
        if word == "hundred":
            total = max(total, 1) * 100
        elif word in ("a", "an"):
            total += 1
        else:
            total += _NUMBERS[word]
    return float(total)
