"""One mechanism and a batch of them: what is refused, how it is said, and round trips."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from daedalus.market.mechanism import (
    AUCTION_TYPES,
    CHOICES,
    FIELDS,
    FLAGS,
    RANGES,
    Mechanism,
    MechanismError,
    Mechanisms,
    mechanism_from_mapping,
)
from tests.populations import draw_mechanism, draw_mechanisms

BAD_NUMBERS = [math.nan, math.inf, -math.inf, -1e-9, True, False, "0.1", None, [0.1], 1j]
BAD_FLAGS = [0, 1, 0.0, 1.0, "true", None, [True]]
BAD_WORDS = ["", "First_Price", "first_price ", "english", 0, True, None, ["vcg"], b"vcg"]

relaxed = settings(deadline=None, derandomize=True)
mechanisms = st.builds(
    Mechanism,
    **{name: st.sampled_from(words) for name, words in CHOICES.items()},
    **{name: st.floats(low, high) for name, (low, high) in RANGES.items()},
    **{name: st.booleans() for name in FLAGS},
)


def bad_entries():
    for name, (low, high) in RANGES.items():
        beyond = [math.nextafter(high, 9), math.nextafter(low, -9), high + 1, 10**400, -(10**400)]
        yield from ((name, value) for value in [*BAD_NUMBERS, *beyond])
    yield from ((name, value) for name in FLAGS for value in BAD_FLAGS)
    yield from ((name, value) for name in CHOICES for value in BAD_WORDS)


def allowed_text(name: str) -> str:
    """Return what a message about the field must offer."""
    if name in RANGES:
        low, high = RANGES[name]
        return f"{low} to {high}"
    return ", ".join(CHOICES[name]) if name in CHOICES else "true or false"


def test_defaults_are_those_of_the_card():
    assert Mechanism().to_dict() == {
        "auction_type": "second_price",
        "reserve_price": 0.10,
        "reveal_reserve": False,
        "reveal_competing_bids": False,
        "reveal_winner_identity": False,
        "reveal_clearing_price": True,
        "reveal_bid_distribution": False,
        "shill_penalty": 0.0,
        "withdrawal_penalty": 0.0,
        "collusion_penalty": 0.0,
        "coalition_policy": "allow",
    }


def test_ranges_are_those_of_the_card():
    assert CHOICES["auction_type"][:3] == ("first_price", "second_price", "vcg")
    assert CHOICES == {
        "auction_type": AUCTION_TYPES,
        "coalition_policy": ("allow", "restrict", "penalize_suspected", "penalize_confirmed"),
    }
    assert RANGES == {
        "reserve_price": (0.0, 0.9),
        "shill_penalty": (0.0, 3.0),
        "withdrawal_penalty": (0.0, 3.0),
        "collusion_penalty": (0.0, 3.0),
    }
    assert set(FIELDS) == {*CHOICES, *RANGES, *FLAGS}
    assert len(FIELDS) == 11


@pytest.mark.parametrize(("name", "value"), list(bad_entries()))
def test_a_bad_value_is_refused_by_name_value_and_range(name, value):
    with pytest.raises(MechanismError) as caught:
        Mechanism(**{name: value})
    assert caught.value.field == name
    assert caught.value.value is value
    assert str(caught.value).startswith(f"{name}: {value!r} ")
    assert allowed_text(name) in str(caught.value)
    with pytest.raises(MechanismError, match=name):
        mechanism_from_mapping({name: value})


def test_an_integer_too_long_to_print_is_refused_like_any_other():
    with pytest.raises(MechanismError) as caught:
        Mechanism(reserve_price=10**5000)
    assert "reserve_price" in str(caught.value)
    assert allowed_text("reserve_price") in str(caught.value)


@pytest.mark.parametrize("name", ["reserve", "Reserve_price", "", "malformed", "__class__"])
def test_an_unknown_field_is_refused_with_the_known_ones(name):
    with pytest.raises(MechanismError) as caught:
        mechanism_from_mapping({"reserve_price": 0.2, name: 0.3})
    assert caught.value.field == name
    assert all(field in caught.value.allowed for field in FIELDS)


def test_a_mapping_may_leave_fields_to_their_defaults():
    assert mechanism_from_mapping({}) == Mechanism()
    assert mechanism_from_mapping({"reserve_price": 0.3}) == Mechanism(reserve_price=0.3)


def test_numbers_of_other_types_are_stored_as_floats_and_flags():
    mechanism = Mechanism(
        reserve_price=np.float32(0.5), shill_penalty=2, reveal_reserve=np.bool_(True)
    )
    assert type(mechanism.reserve_price) is float
    assert type(mechanism.shill_penalty) is float
    assert mechanism.reveal_reserve is True


@relaxed
@given(mechanisms)
def test_a_mapping_gives_the_mechanism_back(mechanism):
    assert mechanism_from_mapping(mechanism.to_dict()) == mechanism
    assert tuple(mechanism.to_dict()) == FIELDS


# -------------------------------------------------------------------------------------- batches


@relaxed
@given(st.lists(st.none() | mechanisms, max_size=6))
def test_a_stack_gives_its_mechanisms_back(rows):
    batch = Mechanisms.stack(rows)
    assert len(batch) == len(rows)
    for index, row in enumerate(rows):
        assert batch.malformed[index] == (row is None)
        assert batch[index] == (Mechanism() if row is None else row)


def test_columns_have_the_types_that_the_kernels_take():
    batch = Mechanisms.stack([Mechanism(), None, Mechanism(shill_penalty=1)])
    for name in FIELDS:
        dtype = np.float64 if name in RANGES else np.int8 if name in CHOICES else np.bool_
        assert getattr(batch, name).dtype == dtype
        assert getattr(batch, name).shape == (3,)
    assert batch.malformed.tolist() == [False, True, False]


def columns(count: int = 3) -> dict[str, np.ndarray]:
    batch = draw_mechanisms(count, np.random.default_rng(0))
    return {name: getattr(batch, name).copy() for name in FIELDS}


BAD_COLUMNS = [
    *((name, [0.0, value, 0.0]) for name in RANGES for value in (math.nan, math.inf, -math.inf)),
    *((name, [low, math.nextafter(low, -9), low]) for name, (low, _) in RANGES.items()),
    *((name, [high, math.nextafter(high, 9), high]) for name, (_, high) in RANGES.items()),
    *((name, [0, code, 0]) for name in CHOICES for code in (-1, 0.5, len(CHOICES[name]), 300)),
]


@pytest.mark.parametrize(("name", "values"), BAD_COLUMNS)
def test_a_column_entry_out_of_range_is_refused(name, values):
    low, high = RANGES[name] if name in RANGES else (0, len(CHOICES[name]) - 1)
    with pytest.raises(MechanismError, match=f"{low} to {high}") as caught:
        Mechanisms(**columns() | {name: np.array(values)})
    assert caught.value.field == name
    assert repr(values[1]) in str(caught.value)


@pytest.mark.parametrize(
    ("names", "values", "said"),
    [
        (FLAGS, [0, 1, 0], "booleans"),
        (FLAGS, [0.0, 1.0, 0.0], "booleans"),
        (FLAGS, ["yes", "no", "yes"], "booleans"),
        ((*RANGES, *CHOICES), [False] * 3, "numbers|integers"),
        ((*RANGES, *CHOICES), ["0"] * 3, "numbers|integers"),
    ],
)
def test_a_column_of_another_type_is_refused(names, values, said):
    for name in names:
        with pytest.raises(MechanismError, match=f"^{name}: .*({said})"):
            Mechanisms(**columns() | {name: np.array(values)})


@pytest.mark.parametrize("name", FIELDS[1:])
def test_columns_of_other_lengths_are_refused(name):
    with pytest.raises(MechanismError, match=name):
        Mechanisms(**columns() | {name: columns(4)[name]})
    with pytest.raises(MechanismError, match=name):
        Mechanisms(**columns() | {name: columns()[name][:, None]})


def test_a_malformed_column_of_another_shape_is_refused():
    for malformed in ([True], [True] * 4, [[True]] * 3):
        with pytest.raises(MechanismError, match="malformed"):
            Mechanisms(**columns(), malformed=np.array(malformed))


def test_columns_are_copied():
    ours = columns()
    batch = Mechanisms(**ours)
    for name in FIELDS:
        assert not np.shares_memory(getattr(batch, name), ours[name])


def test_a_batch_never_changes():
    drawn = draw_mechanisms(3, np.random.default_rng(0))
    for batch in (drawn, drawn.take(np.arange(3)), pickle.loads(pickle.dumps(drawn))):
        before = [batch[row] for row in range(3)]
        for name in (*FIELDS, "malformed"):
            with pytest.raises(ValueError, match="read-only"):
                getattr(batch, name)[1] = 0
            with pytest.raises(AttributeError):
                setattr(batch, name, getattr(drawn, name))
        assert [batch[row] for row in range(3)] == before


def test_a_copy_may_have_other_columns_which_are_checked():
    batch = Mechanisms.stack([Mechanism(), None])
    raised = batch.with_columns(reserve_price=np.array([0.2, 0.3]))
    assert [raised[0], raised[1]] == [Mechanism(reserve_price=0.2), Mechanism(reserve_price=0.3)]
    assert raised.malformed.tolist() == [False, True]
    assert batch[0] == Mechanism()
    with pytest.raises(MechanismError, match="reserve_price: nan"):
        batch.with_columns(reserve_price=np.array([0.2, math.nan]))


def test_columns_that_lack_or_are_unknown_are_refused():
    for ours in ({}, columns() | {"reserve": np.zeros(3)}):
        with pytest.raises(TypeError, match="give auction_type, reserve_price"):
            Mechanisms(**ours)
    with pytest.raises(AttributeError, match="reserve: no such field; the fields are auction_type"):
        _ = draw_mechanisms(3, np.random.default_rng(0)).reserve


def test_take_repeats_and_orders_rows():
    batch = Mechanisms.stack([draw_mechanism(np.random.default_rng(i)) for i in range(3)] + [None])
    taken = batch.take(np.array([3, 1, 1]))
    assert taken.malformed.tolist() == [True, False, False]
    assert [taken[i] for i in (1, 2)] == [batch[1], batch[1]]


def test_crossed_takes_each_field_from_a_row_of_its_own():
    rng = np.random.default_rng(0)
    batch, rows = draw_mechanisms(4, rng), rng.integers(4, size=(6, len(FIELDS)))
    for made, chosen in zip(batch.crossed(rows).numbers, rows, strict=True):
        assert_array_equal(made, batch.numbers[chosen, np.arange(len(FIELDS))])


def test_numbers_are_the_columns_in_order():
    batch = draw_mechanisms(4, np.random.default_rng(0))
    for numbers, name in zip(batch.numbers.T, FIELDS, strict=True):
        assert_array_equal(numbers, getattr(batch, name))


def test_replace_leaves_the_original_alone():
    batch, others = draw_mechanisms(4, np.random.default_rng(0)), Mechanisms.stack([None])
    before = [batch[i] for i in range(4)]
    changed = batch.replace(np.array([2]), others)
    assert [batch[i] for i in range(4)] == before
    assert not batch.malformed.any()
    assert changed.malformed.tolist() == [False, False, True, False]
    assert [changed[i] for i in (0, 1, 3)] == [before[i] for i in (0, 1, 3)]
    assert changed[2] == Mechanism()


def test_repeat_is_a_stack_of_copies():
    mechanism = draw_mechanism(np.random.default_rng(5))
    batch = Mechanisms.repeat(mechanism, 3)
    assert [batch[i] for i in range(3)] == [mechanism] * 3
    assert len(Mechanisms.repeat(mechanism, 0)) == 0
    assert_array_equal(batch.malformed, False)


def test_distinct_mechanisms_are_rounded_and_keep_the_last_of_equal_ones() -> None:
    near, same = Mechanism(reserve_price=0.123), Mechanism(reserve_price=0.12)
    other = Mechanism(shill_penalty=0.5)
    kept = Mechanisms.distinct([near, other, same])
    assert [kept[row] for row in range(len(kept))] == [other, same]
