from annotation.formats.record import Consensus, PathPosition, Rating, RecordAnnotation
from annotation.quality.consensus import consensus_of


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
