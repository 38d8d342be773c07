"""What stops a simulation."""

SENTENCES: dict[str, str | tuple[str, str]] = {
    "budgets_not_rising": "budgets must rise from one to the next, and there must be two or more",
    "noise_out_of_range": "noise is a share of wrong verdicts, from 0 to below 0.5",
    "simulation_without_random": "a simulation compares with random: name it among the functions",
    "too_few_candidates": ("{n} candidate is too few to label {most}", "{n} candidates are too few to label {most}"),
    "too_few_solutions_in_part": "{world}: the {part} has {wrong} erroneous and {right} right solutions; a simulation needs {enough} of each",
    "unknown_world": "no world is named {name!r}: one of {known}",
}
