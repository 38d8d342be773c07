"""What stops an evaluation."""

SENTENCES: dict[str, str | tuple[str, str]] = {
    "comparison_needs_both_kinds": "no domain has both erroneous and correct solutions, so two models cannot be compared",
    "no_candidates_to_rank": "there are no candidates to rank",
    "not_a_prmbench_category": "trace {id!r}: {domain!r} is not a category of PRMBench",
    "outcome_unknown": "trace {id!r} does not say whether its final answer is right",
    "threshold_data_overlaps": (
        "the threshold cannot be fitted on this data: {n} problem is also in the data to measure on",
        "the threshold cannot be fitted on this data: {n} problems are also in the data to measure on",
    ),
    "threshold_fitted_on_measured_data": "the threshold cannot be fitted on the data that it is measured on",
    "threshold_needs_both_kinds": "a threshold needs scored solutions of both kinds, erroneous and correct",
    "trace_steps_without_score": (
        "trace {id!r} has no score for its {n} step",
        "trace {id!r} has no score for each of its {n} steps",
    ),
    "trace_without_score": "trace {id!r} has no score",
}
