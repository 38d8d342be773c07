"""What is wrong with snapshots, exports and reviews."""

SENTENCES: dict[str, str | tuple[str, str]] = {
    "accepted_marks_left_out": ("{n} mark of a step accepted with others", "{n} marks of steps accepted with others"),
    "alternative_ratings_left_out": ("{n} rating of an alternative", "{n} ratings of alternatives"),
    "batch_already_decided": "This batch was decided so already.",
    "calibration_solutions_left_out": ("{n} calibration solution", "{n} calibration solutions"),
    "consensus_alike": "all alike",
    "consensus_by_reliability": "by how reliable each annotator is",
    "dimensions_left_out": ("{n} dimension or critique of a step", "{n} dimensions and critiques of steps"),
    "dispute_settled": "This dispute is settled already.",
    "empty_batch": "Nobody labelled anything there: choose another time.",
    "error_types_left_out": ("{n} type of error", "{n} types of error"),
    "export_empty": "The file would be empty: the snapshot has no solutions.",
    "export_empty_after_exclusions": "The file would be empty. Left out: {reasons}.",
    "hint_draws_left_out": ("{n} label’s draw of hints", "{n} labels’ draws of hints"),
    "invalid_batch": "A batch is of one annotator or one source of this project, from then to then.",
    "invalid_filters": "The filters: {fault}.",
    "lines_ended_before_neutral": ("{n} line ends before a neutral step", "{n} lines end before a neutral step"),
    "lines_ended_before_own_step": (
        "{n} line ends before a step that an annotator wrote",
        "{n} lines end before a step that an annotator wrote",
    ),
    "lines_ended_before_unrated": (
        "{n} line ends before a step that is unsure or not rated",
        "{n} lines end before a step that is unsure or not rated",
    ),
    "mixed_kinds": "This snapshot holds labels of several kinds ({kinds}), and a line of {format} cannot say which it is of. Make a snapshot of one kind (`source_kinds`), or export another format.",
    "nothing_to_snapshot": "No label in this project matches these filters.",
    "own_steps_not_marked": (
        "{n} step is not marked as written by an annotator",
        "{n} steps are not marked as written by annotators",
    ),
    "pool_solutions_left_out": ("{n} solution of the pool", "{n} solutions of the pool"),
    "reference_right_with_answer": "You say that the reference is right: leave the field for the right answer empty.",
    "resolution_needed": "Say why you decide so.",
    "snapshot_file_changed": "The file of {snapshot} was changed after it was frozen (SHA-256 {sha256}). Nothing was read from it. Restore {path} from a backup.",
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
    "solutions_with_labels_of_no_step": (
        "{n} solution whose labels take no step",
        "{n} solutions whose labels take no step",
    ),
    "solutions_without_labels": ("{n} solution without labels", "{n} solutions without labels"),
    "unknown_neutral_policy": "Neutral steps are {known}; not '{neutral}'.",
    "unknown_split": "There is no split '{split}'. Choose from: {known}.",
}
