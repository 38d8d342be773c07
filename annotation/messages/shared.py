"""Sentences of several rooms."""

SENTENCES: dict[str, str | tuple[str, str]] = {
    "annotation_not_found": "There is no label {annotation_id} in {name}.",
    "holdout_solutions_left_out": ("{n} holdout solution", "{n} holdout solutions"),
    "invalid_sampling": "{error}.",
    "kind_error": "{kind}: {error}",
    "n_problems": ("{n} problem", "{n} problems"),
    "solution_id_not_in_project": "There is no solution {solution_id} in {name}.",
    "unknown_decomposition": "“{value}” is not a way to split texts. Choose one of {choices}.",
}
