"""What stops a simulation."""

SENTENCES: dict[str, str | tuple[str, str]] = {
    "budgets_not_rising": "expected two or more budgets in increasing order",
    "noise_out_of_range": "noise (the share of wrong verdicts) must be at least 0 and below 0.5",
    "simulation_without_random": "a simulation compares with random: add it to the functions",
    "too_few_candidates": (
        "{n} candidate is not enough to label {most}",
        "{n} candidates are not enough to label {most}",
    ),
    "too_few_solutions_in_part": "{world}: the {part} has {wrong} erroneous and {right} correct solutions; a simulation needs {enough} of each",
    "unknown_world": "there is no world named {name!r}: choose one of {known}",
}
