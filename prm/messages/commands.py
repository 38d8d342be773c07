"""What is wrong with the arguments and files of a command."""

SENTENCES: dict[str, str | tuple[str, str]] = {
    "evaluation_of_another_model": "{path} is an evaluation of another model, {model!r}",
    "file_is_empty": "{path} is empty",
    "file_unreadable": "{path} cannot be read",
    "measured_on_training_data": "{files}: {name} was trained on this data; measure on other data",
    "no_such_trace": "{path}: there is no trace {id!r}",
    "nothing_to_audit_against": "{data}: no solution has a known first error, so there is nothing to audit against",
    "output_is_input": "{path} is an input file: write the result to another file",
    "path_is_folder": "{path} is a folder: give the path of a file",
    "sizes_not_three_numbers": "--sizes takes three numbers: POOL,CALIBRATION,TEST",
    "solutions_without_score": (
        "{n} solution has no score: {missing!r}",
        "{n} solutions have no score, the first of them {missing!r}",
    ),
    "training_file_missing": "{path}: no such file; give the training data with --training",
    "unknown_sandbox_domain": "the sandbox has no domain named {unknown}: choose from {known}",
    "verifier_needs_project": "a verifier at an address uses the champion of a project: name the project with --project",
}
