"""An amount that was read as the least is in doubt where the words say the most, and otherwise."""

from __future__ import annotations

import pytest

from daedalus.design.briefs.direction import on_the_side_of_its_words, with_direction_checked
from daedalus.design.briefs.meanings import MEANINGS
from daedalus.design.briefs.parts import sentences_in_parts
from daedalus.design.briefs.readers import clause
from daedalus.design.briefs.wordings import wordings


@pytest.mark.parametrize(
    ("meaning", "text", "doubt"),
    [
        ("reserve_least/x", "Set the reserve at 0.5 or lower.", True),
        ("reserve_most/x", "Set the reserve at 0.5 or lower.", False),
        ("reserve_most/x", "a reserve of no less than 0.2", True),
        ("reserve_exact/x", "a reserve of 0.2, no more than that", False),
        ("withdrawal_fine/least", "backing out costs 0.3 at the outside", True),
        ("floor/fairness", "fairness \u2264 0.4", True),
        ("reserve_least/x", "at least 0.2, but no more than it is worth", False),  # both ends
        ("reserve_least/x", "no less than 0.3 of what it can be worth at most", False),
        ("reserve_told/yes", "at most tell them the reserve", False),
        ("reserve_least/x", "Do not sell at 0.3 or below.", False),
        ("reserve_least/x", "Reject bids of 0.2 or less.", False),
        ("reserve_least/x", "0.3 <= reserve", False),
        ("reserve_least/x", "a reserve not exceeding 0.5", True),
        ("reserve_least/x", "the reserve shouldn't exceed 0.5", True),
        ("reserve_least/x", "the reserve isn't to be above 0.5", True),
        ("reserve_least/x", "a reserve of up to 0.5", True),
        ("reserve_least/x", "reserve max 0.4", True),
        ("reserve_least/x", "reserve 15 % tops", True),
        ("reserve_least/x", "the bid that tops the list pays 0.2", False),
        ("withdrawal_fine/least", "reneging: 0.3 max.", True),
        ("reserve_most/x", "do not go any lower than 0.4", True),
    ],
)
def test_words_of_the_other_end_alone_are_a_doubt(meaning: str, text: str, doubt: bool) -> None:
    given = clause(meaning, text, 0.9)
    checked = with_direction_checked(given)
    assert bool(checked.doubt) is doubt
    assert doubt or checked == given
    if doubt:
        assert "its words say at " in checked.doubt


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        ("fairness 30 %.", True),
        ("and fairness: 0.3", True),
        ("mean fairness 0.3 or more", False),
        ("Fairness (30 %)", True),
        ("30 % for fairness", True),
        ("fairness counts for 0.3", True),
        ("fairness 0.3+", False),
        ("Minimum 0.3", False),
        ("Fairness floor: 0.3", False),
        ("Fairness must stay over 30 %", False),
    ],
)
def test_a_bare_share_is_no_floor(text: str, doubt: bool) -> None:
    checked = with_direction_checked(clause("floor/fairness", text, 0.9))
    assert bool(checked.doubt) is doubt and (not doubt or "say at least" in checked.doubt)


@pytest.mark.parametrize(
    ("meaning", "text", "doubt"),
    [
        ("withdrawal_fine/most", "If anyone walks away from a win, fine them 2.", True),
        ("withdrawal_fine/most", "Those who do not take what they won owe us 0.7.", True),
        ("withdrawal_fine/most", "no heavier charge than 0.3 for leaving", False),
        ("withdrawal_fine/most", "quitters pay 0.1, not a penny more", False),
        ("withdrawal_fine/least", "Fine those who walk away 1.5.", False),
        ("shill_fine/least", "False names cost 2.", False),
        ("reserve_most/x", "a reserve of 0.4", False),
    ],
)
def test_a_fine_that_names_no_side_is_no_most(meaning: str, text: str, doubt: bool) -> None:
    checked = with_direction_checked(clause(meaning, text, 0.9))
    assert bool(checked.doubt) is doubt and (
        not doubt or "say at least or at most" in checked.doubt
    )


@pytest.mark.parametrize(
    ("meaning", "text", "expected"),
    [
        ("reserve_least/x", "a reserve no higher than 0.4", ("reserve_most/x", 0.9)),
        ("reserve_most/x", "a reserve no higher than 0.4", ("reserve_most/x", 0.9)),
        ("reserve_most/x", "a reserve of 0.4 or more", ("reserve_least/x", 0.9)),
        ("reserve_most/x", "a reserve of 0.4", ("reserve_exact/x", 0.95)),
        ("reserve_least/x", "Reserve price: 25 %.", ("reserve_exact/x", 0.95)),
        ("reserve_least/x", "Set the reserve at 0.4!", ("reserve_exact/x", 0.95)),
        ("reserve_least/x", "Lower the reserve to 0.1.", ("reserve_exact/x", 0.95)),
        ("reserve_least/x", "Lower the reserve 10 %.", ("reserve_least/x", 0.4)),
        ("reserve_most/x", "Please keep the reserve (0.4).", ("reserve_exact/x", 0.95)),
        ("reserve_most/x", "The reserve price is set at a third", ("reserve_exact/x", 0.95)),
        ("reserve_most/x", "a reserve that is about 0.4", ("reserve_most/x", 0.5)),
        ("reserve_most/x", "\u2265 reserve 0.4", ("reserve_most/x", 0.5)),
        ("reserve_most/x", "reserve >= 0.4", ("reserve_least/x", 0.9)),
        ("reserve_least/x", "at least 0.2 and at most 0.4", ("reserve_least/x", 0.4)),
        ("reserve_least/x", "cap the reserve at 0.4", ("reserve_most/x", 0.9)),
        ("reserve_least/x", "keep the reserve under 30%", ("reserve_most/x", 0.9)),
        ("reserve_most/x", "a reserve of two fifths minimum", ("reserve_least/x", 0.9)),
        ("reserve_most/x", "dont set the reserve south of 0.4", ("reserve_least/x", 0.9)),
        ("reserve_most/x", "a share present of 0.4 or above", ("reserve_least/x", 0.9)),
        ("reserve_exact/x", "a reserve of 0.4 at most", ("reserve_exact/x", 0.05)),
        ("reserve_least/x", "at most this: 0.4", ("reserve_most/x", 0.9)),
        ("withdrawal_fine/most", "a fine of 0.4 at least", ("withdrawal_fine/most", 0.99)),
        ("shill_fine/least", "false names cost 0.5 at most", ("shill_fine/least", 0.05)),
        ("aim/revenue", "money, at most for us", ("aim/revenue", 0.0)),
    ],
)
def test_words_say_from_which_side_a_field_is_bounded(
    meaning: str, text: str, expected: tuple[str, float]
) -> None:
    odds = {"reserve_most/x": 0.5, "reserve_least/x": 0.4, "reserve_exact/x": 0.05}
    odds |= {"shill_fine/least": 0.05, "aim/revenue": 0.0}
    odds |= {"withdrawal_fine/most": 0.99, "withdrawal_fine/least": 0.01}  # it is sure
    found, sure = on_the_side_of_its_words(meaning, text, text, odds)
    assert (found, round(sure, 9)) == expected


@pytest.mark.parametrize(
    ("sentence", "bare"),
    [
        ("We need money, reserve 0.3", True),
        ("Reserve 0.3 to 0.5", False),
        ("Reserve 0.3, at the very least", False),
    ],
)
def test_a_part_is_a_bare_reserve_if_its_sentence_says_no_more_of_it(
    sentence: str, bare: bool
) -> None:
    odds = {"reserve_least/x": 0.9, "reserve_most/x": 0.0, "reserve_exact/x": 0.1}
    found, _ = on_the_side_of_its_words("reserve_least/x", "reserve 0.3", sentence, odds)
    assert (found == "reserve_exact/x") is bare


def test_what_writers_mean_is_seldom_in_doubt() -> None:
    given = [(text, name) for each in sentences_in_parts() for text, name in each]
    for writer in ("first", "second", "hurried"):
        given += [
            (text.replace("{x}", "0.5"), name)
            for name, texts in wordings(writer).items()
            for text in texts
        ]
    read = [clause(name, text, 0.9) for text, name in given if MEANINGS[name].takes_amount]
    changed = [each.sentence for each in read if with_direction_checked(each) != each]
    assert len(read) > 1000 and len(changed) <= 2, changed


@pytest.mark.parametrize(
    ("meaning", "sentence", "doubted"),
    [
        ("reserve_least/x", "Reserve somewhere around 0.3.", True),
        ("withdrawal_fine/most", "Fine them about 2.", True),
        ("reserve_least/x", "A minimum price of around 0.3.", False),
        ("reserve_least/x", "The reserve is at least about 0.3.", False),
        ("reserve_exact/x", "The reserve is about 0.3.", False),
    ],
)
def test_an_amount_about_which_is_no_limit(meaning: str, sentence: str, doubted: bool) -> None:
    found = with_direction_checked(clause(meaning, sentence, 0.9)).doubt
    assert ("no limit" in found) == doubted
    assert ("exactly" in found) == (doubted and meaning.startswith("reserve"))
