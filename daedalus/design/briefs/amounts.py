"""Amounts in sentences: written in many ways, and read back."""

from __future__ import annotations

import re
from fractions import Fraction

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
_PARTS = {"hundredth": 100, "tenth": 10, "fifth": 5, "quarter": 4, "fourth": 4, "third": 3}
_PARTS |= {"half": 2, "eighth": 8, "sixth": 6, "twentieth": 20}
_PLURALS = {f"{name}s": size for name, size in _PARTS.items()} | {"halves": 2}

_SIMPLE = {Fraction(1, 2): "half", Fraction(1, 4): "a quarter", Fraction(3, 4): "three quarters"}
_SIMPLE |= {Fraction(each, 5): f"{_ONES[each]} fifths" for each in (2, 3, 4)}
_SIMPLE |= {Fraction(1, 5): "a fifth", Fraction(1, 10): "a tenth", Fraction(3, 2): "one and a half"}
_SIMPLE |= {Fraction(5, 2): "two and a half", Fraction(1): "one", Fraction(2): "two"}

_SIZES = "|".join([*_PLURALS, *_PARTS])
_WORD = "(?:" + "|".join(["hundred", *sorted(_NUMBERS, key=len, reverse=True)]) + ")"
_SERIES = rf"{_WORD}(?:(?:[ -]| and ){_WORD}){{0,7}}"
_WORDS = rf"\b(?:an? (?=hundred))?{_SERIES}(?: point {_SERIES})?\b|\ban?(?= (?:{_SIZES})\b)"
_UNIT = rf"(?:\s*-?\s*(?P<unit>%|per ?cent\b|(?:{_SIZES})\b))?"
_OUT_OF = r"(?:\s+(?:out of|in|of)(?: every)?\s+(?P<whole>\d+|" + "|".join(_NUMBERS) + r")\b)?"
_NO_AMOUNT = r"(?<![\w.,/$€£-])(?<!EUR )(?<!USD )(?<!GBP )"  # parts of dates, money, -0.2
_NO_THOUSANDS = r"(?![1-9]\d{0,2}(?:,\d{3})+(?!\d))"  # 2,500 is out of range, or 2.5: nobody knows
_NO_MONEY = r"(?!\s*(?:[€$£]|(?:dollars?|euros?|pounds?|cents?|eur|usd|gbp)\b))"
_AMOUNT = re.compile(
    rf"{_NO_AMOUNT}{_NO_THOUSANDS}"
    rf"(?>(?P<number>\d{{1,9}}/\d{{1,9}}(?![\d/])|\d{{1,9}}(?:[.,]\d{{1,9}})?(?![\d/])"
    rf"|[.,]\d{{1,9}}|{_WORDS}|\bhalf\b)){_NO_MONEY}"
    rf"(?P<more>\s+and\s+a\s+(?P<part>{_SIZES})\b)?{_UNIT}{_OUT_OF}",
    re.IGNORECASE,
)

_DOUBLE = re.compile(
    r"\b(?:twice|double)\b(?=\s+(?:the|its|their|his|her|what|that)\b)", re.IGNORECASE
)


def written(amount: float, rng: np.random.Generator) -> str:
    """Return an amount in one of the ways in which people write it.

    Args:
        amount: From 0 to 3, in hundredths.
        rng: Chooses the way.
    """
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
    any, because words such as *one* seldom are amounts.
    """
    found = [each for match in _AMOUNT.finditer(text) if (each := _read(match)) is not None]
    sure = [amount for amount, is_sure in found if is_sure]
    doubled = [2.0] if _DOUBLE.search(text) else []
    return sure or [amount for amount, _ in found] or doubled


def masked(text: str) -> str:
    """Return a sentence with each amount of ``amounts_in`` replaced by one and the same word.

    *Twice* and *double* stay: they are amounts only where nothing else is one.
    """
    return masked_with_places(text)[0]


def masked_with_places(text: str) -> tuple[str, list[int]]:
    """Return a sentence as ``masked`` does, and where each of its characters stood before."""
    matches = [(match, _read(match)) for match in _AMOUNT.finditer(text)]
    anything_sure = any(each is not None and each[1] for _, each in matches)
    pieces, places, end = [], list[int](), 0
    for match, each in matches:
        if each is not None and (each[1] or not anything_sure):
            pieces += [text[end : match.start()], _MASK]
            places += [*range(end, match.start()), *[match.start()] * len(_MASK)]
            end = match.end()
    return "".join([*pieces, text[end:]]), [*places, *range(end, len(text))]


def _in_words(number: int) -> str:
    if number >= 100:
        rest = f" and {_in_words(number % 100)}" if number % 100 else ""
        return f"{_ONES[number // 100]} hundred{rest}"
    if number < 20:
        return _ONES[number]
    ones = f"-{_ONES[number % 10]}" if number % 10 else ""
    return f"{_TENS[number // 10 - 2]}{ones}"


def _read(match: re.Match[str]) -> tuple[float, bool] | None:
    """Return a match's amount, and whether its form leaves no doubt that it is one."""
    raw = match["number"].lower()
    number = _number(raw)
    if number is None:
        return None
    sure = any(mark in raw for mark in "./,") or raw == "half" or "point" in raw
    if match["more"]:
        number, sure = number + 1 / _size(match["part"]), True
    if match["unit"]:
        number, sure = number / _size(match["unit"]), True
    elif match["whole"]:
        whole = _number(match["whole"].lower())
        if not whole or whole > _MOST_OF:
            return None  # two in 2025
        number, sure = number / whole, True
    return (round(number, 4), sure) if number <= LARGEST else None


def _size(unit: str) -> int:
    unit = unit.lower()
    if unit == "%" or unit.startswith("per"):
        return 100
    return _PLURALS.get(unit) or _PARTS[unit]


def _number(text: str) -> float | None:
    """Return a number in digits or in words; None if there is none, as in *a* or *and* alone."""
    if text == "half":
        return 0.5
    if "/" in text:
        above, below = text.split("/")
        return int(above) / int(below) if int(below) else None
    if text[0].isdigit() or text[0] in ".,":
        return float(text.replace(",", "."))
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
