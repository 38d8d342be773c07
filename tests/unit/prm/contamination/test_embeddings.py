"""Problems that are close in meaning by the embedded backbone."""

from prm.contamination.embeddings import similar_problems


def test_equal_problems_are_found_and_others_are_not():
    known = [("k0", "Tom has 3 apples and buys 4."), ("k1", "Find the area of a circle of radius 2."), ("k2", "6 · 7?")]
    data = [("d0", "Find the area of a circle of radius 2."), ("d1", "The train leaves at noon."), ("d2", " ")]
    pairs = similar_problems(data, known, backbone="tiny")
    assert [(pair.id, pair.benchmark_id) for pair in pairs] == [("d0", "k1")]
    assert pairs[0].cosine > 0.999
    assert similar_problems([], known, backbone="tiny") == []
