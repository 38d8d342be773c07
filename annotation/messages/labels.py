"""Errors in snapshots, exports and reviews, and what exports leave out."""

SENTENCES: dict[str, str | tuple[str, str]] = {
    "accepted_marks_left_out": ("{n} step accepted with others", "{n} steps accepted with others"),
    "alternative_ratings_left_out": ("{n} rating of an alternative", "{n} ratings of alternatives"),
    "batch_already_decided": "This batch already has this decision.",
    "calibration_solutions_left_out": ("{n} calibration solution", "{n} calibration solutions"),
    "consensus_alike": "all annotators equal",
    "consensus_by_reliability": "weighted by each annotator's reliability",
    "dimensions_left_out": ("{n} dimension or critique of a step", "{n} dimensions and critiques of steps"),
    "dispute_settled": "This dispute is already settled.",
    "empty_batch": "No label was made in that time. Choose another time.",
    "error_types_left_out": ("{n} error type", "{n} error types"),
    "export_empty": "The file would be empty, because the snapshot has no solutions.",
    "export_empty_after_exclusions": "The file would be empty. Left out: {reasons}.",
    "filter_id_unknown": "{name} has none with the id {pk}",
    "filter_needs_fields": "send all of {fields}, or none of them",
    "hint_draws_left_out": ("the hint arm of {n} label", "the hint arms of {n} labels"),
    "invalid_batch": "A batch needs one annotator or one source of this project, and a start before its end.",
    "invalid_filters": "The filters are invalid: {fault}.",
    "labels_merged": (
        "{n} label merged with another of its solution",
        "{n} labels merged with others of their solutions",
    ),
    "lines_ended_before_neutral": ("{n} line ends before a neutral step", "{n} lines end before a neutral step"),
    "lines_ended_before_own_step": (
        "{n} line ends before a step that an annotator wrote",
        "{n} lines end before a step that an annotator wrote",
    ),
    "lines_ended_before_unrated": (
        "{n} line ends before a step that is unsure or not rated",
        "{n} lines end before a step that is unsure or not rated",
    ),
    "mixed_kinds": "This snapshot has labels of several source kinds ({kinds}), which {format} cannot distinguish. Make a snapshot of one kind (`source_kinds`), export in another format, or allow it (`mixed_kinds=allow`).",
    "nothing_to_snapshot": "No label in this project matches the filters.",
    "own_steps_not_marked": (
        "{n} step is not marked as written by an annotator",
        "{n} steps are not marked as written by annotators",
    ),
    "pool_solutions_left_out": ("{n} pool solution", "{n} pool solutions"),
    "reference_right_with_answer": "You decided that the reference is right. Leave the field for the right answer empty.",
    "resolution_needed": "Give a reason for your decision.",
    "snapshot_file_changed": "The file of {snapshot} was changed after the snapshot was made (SHA-256 {sha256}). Nothing was read from it. Restore {path} from a backup.",
    "snapshot_file_missing": "The file of {snapshot} is missing from {snapshot_root}. Restore it from a backup.",
    "solutions_beginning_neutral": (
        "{n} solution whose first step is neutral",
        "{n} solutions whose first step is neutral",
    ),
    "solutions_beginning_own_step": (
        "{n} solution whose first step an annotator wrote",
        "{n} solutions whose first step an annotator wrote",
    ),
    "solutions_beginning_unrated": (
        "{n} solution whose first step is unsure or not rated",
        "{n} solutions whose first step is unsure or not rated",
    ),
    "solutions_left_out_because": ("{n} solution: {reason}", "{n} solutions: {reason}"),
    "solutions_not_expressible": (
        "{n} solution that the format cannot express",
        "{n} solutions that the format cannot express",
    ),
    "solutions_of_another_format": (
        "{n} solution that was not imported in this format",
        "{n} solutions that were not imported in this format",
    ),
    "solutions_with_labels_of_no_step": (
        "{n} solution whose labels have no path",
        "{n} solutions whose labels have no path",
    ),
    "solutions_with_marks_of_the_format": (
        "{n} solution whose text contains “Step 1” in the problem, or the tag of the format",
        "{n} solutions whose text contains “Step 1” in the problem, or the tag of the format",
    ),
    "solutions_with_unknown_first_error": (
        "{n} solution whose first error is unknown",
        "{n} solutions whose first error is unknown",
    ),
    "solutions_without_correction": (
        "{n} solution without a good and a bad step at one position",
        "{n} solutions without a good and a bad step at one position",
    ),
    "solutions_without_labels": ("{n} solution without labels", "{n} solutions without labels"),
    "unknown_mixed_kinds": "'{given}' is not a rule for mixed source kinds. Choose one of: {known}.",
    "unknown_neutral_policy": "'{neutral}' is not a policy for neutral steps. Choose one of: {known}.",
    "unknown_preset": "There is no preset '{preset}'. Choose one of: {known}.",
    "unknown_split": "There is no split '{split}'. Choose one of: {known}.",
}
