"""Text to mechanism: one complete object passes, all else has a reason, nothing raises."""

from __future__ import annotations

import json
import math
import time
from bisect import bisect_left

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from daedalus.market.mechanism import FIELDS, Mechanism
from daedalus.market.parsing import MAX_TEXT, ParsedMechanism, format_mechanism, parse_mechanism
from tests.market.test_mechanism import allowed_text, mechanisms, relaxed

VALID = Mechanism().to_dict()
GOOD = format_mechanism(Mechanism())

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


def check(text: str) -> ParsedMechanism:
    """Parse, and check what holds whatever the text is."""
    parsed, lenient = parse_mechanism(text), parse_mechanism(text, strict=False)
    assert lenient.valid or not parsed.valid
    for each in (parsed, lenient):
        assert each.valid == (not each.reason) == (not each.kind)
        assert len(each.reason) < 4000 and len(each.kind) < 30 and "\n" not in each.reason
        each.reason.encode()  # no lone surrogates, which files and terminals refuse
    assert parsed.valid == (parsed.mechanism is not None) == (not parsed.errors)
    assert 0 <= parsed.fields_valid <= 1
    assert parsed.fields_valid == 1 or not parsed.valid
    assert all(isinstance(reason, str) and reason for reason in parsed.errors.values())
    return parsed


@relaxed
@given(mechanisms)
def test_what_is_written_is_read(mechanism):
    parsed = check(format_mechanism(mechanism))
    assert parsed.mechanism == mechanism
    assert parsed.fields_valid == 1


@relaxed
@given(mechanisms, st.permutations(FIELDS), st.sampled_from([None, 0, 2, "\t"]))
def test_order_and_white_space_do_not_matter(mechanism, order, indent):
    data = {name: mechanism.to_dict()[name] for name in order}
    text = f"\n\t {json.dumps(data, indent=indent)} \r\n"
    assert check(text).mechanism == mechanism


def test_written_text_is_compact_and_in_order():
    text = format_mechanism(Mechanism())
    assert list(json.loads(text)) == list(FIELDS)
    assert " " not in text
    assert "\n" not in text


# -------------------------------------------------------------------------------- what is wrong


@pytest.mark.parametrize("name", FIELDS)
def test_a_missing_field_is_named(name):
    text = json.dumps({key: value for key, value in VALID.items() if key != name})
    parsed = check(text)
    assert parsed.errors == {name: "missing"}
    assert parsed.fields_valid == pytest.approx(10 / 11)


@pytest.mark.parametrize("name", FIELDS)
@pytest.mark.parametrize(
    "value", [None, [], {}, "", "x", -1, 99, 1.5e300, math.nan, math.inf, -math.inf, "\ud800"]
)
def test_a_bad_value_is_named_with_value_and_range(name, value):
    parsed = check(json.dumps(VALID | {name: value}))
    assert list(parsed.errors) == [name]
    for part in (name, repr(value), allowed_text(name)):
        assert part in parsed.errors[name]
    assert parsed.fields_valid == pytest.approx(10 / 11)


def test_an_unknown_field_is_named_and_costs_validity_but_no_share():
    parsed = check(json.dumps(VALID | {"tick_size": 0.01}))
    assert list(parsed.errors) == ["tick_size"]
    assert all(name in parsed.errors["tick_size"] for name in FIELDS)
    assert parsed.fields_valid == 1
    assert not parsed.valid


@pytest.mark.parametrize("name", FIELDS)
def test_a_repeated_field_is_named(name):
    for value in (json.dumps(VALID[name]), "null"):
        parsed = check(f'{{"{name}":{value},{GOOD[1:]}')
        assert name in parsed.reason and parsed.kind == "repeated field"


def test_several_wrongs_are_all_reported():
    data = VALID | {"reserve_price": 2, "auction_type": "english", "extra": 1}
    del data["reveal_reserve"]
    parsed = check(json.dumps(data))
    assert set(parsed.errors) == {"reserve_price", "auction_type", "extra", "reveal_reserve"}
    assert parsed.fields_valid == pytest.approx(8 / 11)


@pytest.mark.parametrize(
    "text",
    [
        " ",
        "null",
        "[]",
        "{}",
        "1",
        '"text"',
        f"{GOOD}\x00",
        GOOD[1:],
        GOOD.replace("false", "0"),
        GOOD.replace("0.1", ".1"),
        GOOD.replace("0.1", "0.1f"),
        GOOD.replace("0.1", "1e999"),
        GOOD.replace("0.1", "9" * 4300),
        "[" * MAX_TEXT,
        '{"a":' * (MAX_TEXT // 5),
        "[" * 9000 + "]" * 9000,
        '{"reserve_price":' + "[" * 9000 + "]" * 9000 + "}",
        "\ud800",
        '{"\ud800": "\udfff"}',
        '{"\\ud800": "\\udfff"}',
        '"' + "\\" * 9999,
    ],
    ids=lambda text: text[:8].encode("unicode_escape").decode(),
)
def test_anything_but_one_complete_object_is_refused(text):
    assert not check(text).valid


def test_length_is_limited_exactly():
    assert check(GOOD + " " * (MAX_TEXT - len(GOOD))).valid
    parsed = check(GOOD + " " * (MAX_TEXT - len(GOOD) + 1))
    assert not parsed.valid
    assert str(MAX_TEXT) in parsed.errors["json"]


# ------------------------------------------------------------------------------- nothing raises


@relaxed
@given(st.text(alphabet=st.characters(codec=None, exclude_categories=[])))
def test_no_text_raises(text):
    check(text)


@pytest.mark.slow
@relaxed
@given(st.dictionaries(st.sampled_from([*FIELDS, "other"]) | st.text(), json_values))
def test_no_object_raises(data):
    assert not check(json.dumps(VALID | data)).valid or data.keys() <= VALID.keys()


@pytest.mark.slow
@settings(relaxed, max_examples=300)
@given(mechanisms, st.data())
def test_no_mutation_of_valid_text_raises(mechanism, data):
    text = format_mechanism(mechanism)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.integers(0, 5))
        text = (
            text[:at]
            + data.draw(st.text('{}[]",:-+.eE019 nulltrue\\u\ud800', max_size=5))
            + (text[at + cut :])
        )
    check(text)


@pytest.mark.slow
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}"), ('[{"a":', "}]")])
def test_no_depth_of_nesting_raises(opening, closing):
    """Reading a value and then quoting it in the error both recurse, up to one limit."""

    def kind(depth, name="other"):
        text = f'{{"{name}":{opening * depth}0{closing * depth}}}'
        assert not check(text).valid
        return parse_mechanism(text, strict=False).kind

    deep = "nested too deeply"
    limit = bisect_left(range(20_000), True, key=lambda depth: kind(depth) == deep)
    depths = range(limit - 40, limit + 40)
    names = ("reserve_price", "auction_type", "reveal_reserve", "other")
    kinds = {kind(depth, name) for depth in depths for name in names}
    assert deep in kinds and len(kinds) > 1


# ------------------------------------------------------------------------- one object among words

DRAFT = format_mechanism(Mechanism(reserve_price=0.8))
LENIENT = {
    "a fence": f"```json\n{GOOD}\n```",
    "a fence without a language": f"```\n{json.dumps(VALID, indent=2)}\n```\n",
    "words before": f"I choose a low reserve. Here you are: {GOOD}",
    "words after": f"{GOOD}\n\nThis keeps entry cheap.",
    "a fence among words": f"Sure!\n```json\n{GOOD}\n```\nLet me know if {{you}} like it.",
    "many words": "so {x} and [y]. " * 10_000 + GOOD,
    "a template": 'I fill in {"auction_type": ..., "reserve_price": ...}. ' + GOOD,
    "braces in words": f'From the set {{a, b}} of 5" pipes: {GOOD}',
    "a byte order mark": f"\ufeff{GOOD}",
}


@pytest.mark.parametrize("text", LENIENT.values(), ids=list(LENIENT))
def test_one_object_among_words_passes_unless_strict(text):
    assert parse_mechanism(text, strict=False).mechanism == Mechanism()
    assert not check(text).valid


def changed(name: str, value: str) -> str:
    return GOOD.replace(f'"{name}":{json.dumps(VALID[name])}', f'"{name}":{value}')


REFUSED = [
    ("empty", "", "no text"),
    ("no object", "A second-price auction, please.", "'A second-price"),
    ("no object", f"[1, 2] null {GOOD[1:]}", "no JSON object"),
    ("several objects", f"{DRAFT} or rather {GOOD}", "only one"),
    ("several objects", f"```json\n{DRAFT}\n```\n```json\n{GOOD}\n```", "only one"),
    ("several objects", f"{GOOD}{{}}", "only one"),
    ("in brackets", f"[{GOOD}]", "alone"),
    ("in brackets", f"{{{GOOD}}}", "alone"),
    ("in brackets", f"{GOOD}}}", "alone"),
    ("cut off", GOOD[:-1], "more tokens"),
    ("cut off", GOOD[:100], "more tokens"),
    ("cut off", f"```json\n{GOOD[:40]}", "more tokens"),
    ("cut off", f"{GOOD} or rather {GOOD[:-5]}", "more tokens"),
    ("cut off", "{", "more tokens"),
    ("not JSON", GOOD.replace('"', "'"), "double quotes"),
    ("not JSON", GOOD.replace("}", ",}"), "}'"),
    ("not JSON", f"{GOOD[:-1]} // why not\n}}", "// why not"),
    ("not JSON", changed("reveal_reserve", "False"), "False"),
    ("not JSON", changed("reserve_price", "9" * 5000), "digits"),
    ("repeated field", '{"reserve_price":0.2,' + GOOD[1:], "0.2 and 0.1"),
    ("nested too deeply", '{"a":' * 20_000 + "}" * 20_000, ""),
    ("too long", '{"a":"' + "x" * MAX_TEXT + '"}', str(MAX_TEXT)),
    ("missing fields", '{"reserve_price": 0.2}', "auction_type, reveal_reserve"),
    ("missing fields", json.dumps({"mechanism": VALID}), "unknown field: 'mechanism'"),
    ("unknown field", GOOD[:-1] + ',"tick\\n[b]":1}', r"'tick\n[b]'"),
    ("reserve_price", changed("reserve_price", "NaN"), "nan is not allowed; give a number from"),
    ("reserve_price", changed("reserve_price", "-Infinity"), "-inf is not allowed"),
    ("reserve_price", changed("reserve_price", '"0.2"'), "'0.2' is not allowed; give a number"),
    ("reserve_price", changed("reserve_price", '"low"'), "'low' is not allowed; give a number"),
    ("reserve_price", changed("reserve_price", "1.4"), "1.4 is not allowed; give a number from"),
    ("reserve_price", changed("reserve_price", '{"value":0.2}'), "{'value': 0.2} is not allowed"),
    ("auction_type", changed("auction_type", '"english"'), "'english' is not allowed; choose one"),
    ("reveal_reserve", changed("reveal_reserve", '"no"'), "'no' is not allowed; write true or"),
]


@pytest.mark.parametrize(("kind", "text", "told"), REFUSED)
def test_a_refusal_says_what_is_wrong(kind, text, told):
    parsed = parse_mechanism(text, strict=False)
    assert not parsed.valid and not check(text).valid
    assert parsed.kind == kind
    assert parsed.reason.startswith(kind) and told in parsed.reason


def test_strict_says_that_it_is():
    for text in (f"```json\n{GOOD}\n```", f"{GOOD}.", f"\u00a0{GOOD}"):
        assert "strict=true allows one JSON object" in check(text).reason


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize(
    "unit",
    ["{", "}", "{}", "{{}}", "[", '{"', '{"a":', '{"a":1,', '{"a":1}', '{"a', '{"\\"', "{ ",
     '{"a" }', '"', "\\", "<", "```json\n{", "9", '{"a":"', '{"a":[',
     'x} {"a'],
)  # fmt: skip
def test_the_time_is_linear_in_the_length_of_the_text(unit, strict):
    text = unit * (1_000_000 // len(unit))
    for each in (text, '{"a":"' + text, text + "}", text + GOOD):
        began = time.process_time()
        parse_mechanism(each, strict)
        assert time.process_time() - began < 2.0


def test_a_repetition_is_found_among_many_fields():
    unlike = "{" + ",".join(f'"{number}":0' for number in range(100_000)) + ',"99999":1}'
    assert parse_mechanism(unlike, strict=False).kind == "repeated field"
