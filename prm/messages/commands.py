"""What is wrong with the arguments and files of a command."""

SENTENCES: dict[str, str | tuple[str, str]] = {
    "evaluation_of_another_model": "{path} is an evaluation of another model, {model!r}",
    "file_is_empty": "{path} is empty",
    "file_unreadable": "{path} cannot be read",
    "measured_on_training_data": "{files}: {name} was trained on these very data; measure on others",
    "no_such_trace": "{path}: no trace {id!r}",
    "nothing_to_audit_against": "{data}: no solution's first error is known, so there is nothing to audit against",
    "output_is_input": "{path} is an input: write the result to another file",
    "path_is_folder": "{path} is a folder: name a file",
    "sizes_not_three_numbers": "--sizes takes three numbers: POOL,CALIBRATION,TEST",
    "solutions_without_score": (
        "{n} solution has no score: {missing!r}",
        "{n} solutions have no score, the first of them {missing!r}",
    ),
    "training_file_missing": "{path}: no such file; give the training data once by --training",
    "unknown_sandbox_domain": "no domain of the sandbox is named {unknown}: {known}",
    "verifier_needs_project": "a verifier at an address judges with a project's champion: name it with --project",
}
