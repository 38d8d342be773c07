from annotation.labels.consensus.consensus import consensus_of
from prm.formats.record import Consensus, PathPosition, Rating, RecordAnnotation


def said(*ratings, adjudicates=False):
    path = [
        PathPosition(n, ratings=[Rating(0, "unsure" if rating is None else "rated", rating=rating)])
        for n, rating in enumerate(ratings)
    ]
    return RecordAnnotation("human", "solution", path, adjudicates=adjudicates)


def test_votes_are_shared_and_an_unsure_step_is_no_vote():
    assert consensus_of([said(1, -1), said(1, 0), said(0, None), said(1)]) == [
        Consensus(0, 0, 0.75, 0.25, 0, votes=4),
        Consensus(1, 0, 0, 0.5, 0.5, votes=2),
    ]
    assert consensus_of([said(None)]) == []
    assert consensus_of([]) == []


def test_an_adjudicated_step_overrides_the_votes_and_the_others_keep_theirs():
    agreed = consensus_of([said(1, 1), said(-1, adjudicates=True), said(1, 0)])
    assert agreed == [Consensus(0, 0, 0, 0, 1, votes=1, adjudicated=True), Consensus(1, 0, 0.5, 0.5, 0, votes=2)]


def walked(*places, finish="solution", adjudicates=False):
    """A chosen path: at each position what was taken, and the ratings of its candidates."""
    path = [
        PathPosition(
            n,
            chosen=taken if isinstance(taken, int) else None,
            own_text=taken if isinstance(taken, str) else None,
            ratings=[Rating(alternative, "rated", rating=rating) for alternative, rating in enumerate(ratings)],
        )
        for n, (taken, ratings) in enumerate(places)
    ]
    return RecordAnnotation("human", finish, path, adjudicates=adjudicates)


def good(agreed, position, alternative):
    return next((one.good, one.votes) for one in agreed if (one.position, one.alternative) == (position, alternative))


def test_a_candidate_read_behind_another_step_is_another_question():
    """Two went on by the second candidate; the third by the first, behind which the same completion is wrong."""
    two = [walked((1, [1, 1]), (0, [1, 0])) for _ in range(2)]
    agreed = consensus_of([*two, walked((0, [1, 1]), (None, [-1, -1]), finish="found_error")])
    assert good(agreed, 0, 0) == (1, 3)  # nobody had gone anywhere yet
    assert good(agreed, 1, 0) == (1, 2)
    assert good(agreed, 1, 1) == (0, 2)


def test_what_only_those_read_who_went_elsewhere_keeps_their_words():
    agreed = consensus_of([*[walked((0, [1]))] * 2, walked(("My own way.", [1]), (0, [1]))])
    assert good(agreed, 1, 0) == (1, 1)


def test_a_decision_says_which_path_the_words_are_about():
    decided = walked((0, [1, 1]), (0, [1]), adjudicates=True)
    elsewhere = [walked((1, [1, 1]), (0, [-1, 1])) for _ in range(2)]
    agreed = consensus_of([*elsewhere, walked((0, [1, 1]), (0, [1, 1])), decided])
    assert good(agreed, 1, 1) == (1, 1)
    assert good(agreed, 1, 0) == (1, 1)
