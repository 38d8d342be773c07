"""What stops an evaluation or a command."""

SENTENCES: dict[str, str | tuple[str, str]] = {
    "comparison_needs_both_kinds": "no domain has both erroneous and correct solutions, so two models cannot be compared",
    "evaluation_of_another_model": "{path} is an evaluation of another model, {model!r}",
    "file_is_empty": "{path} is empty",
    "file_unreadable": "{path} cannot be read",
    "measured_on_training_data": "{files}: {name} was trained on this data; measure on other data",
    "no_candidates_to_rank": "there are no candidates to rank",
    "no_known_first_error": "{path}: no solution has a known first error. Use a file with step labels.",
    "no_such_trace": "{path}: there is no trace {id!r}",
    "not_a_prmbench_category": "trace {id!r}: {domain!r} is not a category of PRMBench",
    "nothing_to_audit_against": "{data}: no solution has a known first error, so there is nothing to audit against",
    "outcome_unknown": "trace {id!r} does not say whether its final answer is right",
    "output_folder_unwritable": "{path} cannot be written: {folder} is not a folder that you can write to",
    "output_is_input": "{path} is an input file: write the result to another file",
    "path_is_folder": "{path} is a folder: give the path of a file",
    "path_is_pipe": "{path} is a pipe or a device: write the data to a file, and give its path",
    "sizes_not_three_numbers": "--sizes takes three numbers: POOL,CALIBRATION,TEST",
    "solutions_without_score": (
        "{n} solution has no score: {missing!r}",
        "{n} solutions have no score, the first of them {missing!r}",
    ),
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
    "training_file_missing": "{path}: no such file; give the training data with --training",
    "unknown_sandbox_domain": "the sandbox has no domain named {unknown}: choose from {known}",
    "verifier_needs_project": "a verifier at an address uses the champion of a project: name the project with --project",
}
