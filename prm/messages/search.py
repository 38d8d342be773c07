"""What stops search, policies and rewards."""

SENTENCES: dict[str, str | tuple[str, str]] = {
    "answer_without_choice": "{url}{path} answers without a choice",
    "beam_search_with_hidden_reasoning": "the policy writes hidden reasoning, and beam search only follows the steps of an answer: turn thinking off on the server, or use best-of-n",
    "critique_needs_chat": "a critique is a remark of the user's, which only the chat API has a place for",
    "key_file_empty": "{path}: no key in it",
    "other_solutions_answered": "{url}{path} answers other solutions than it was asked about",
    "problems_failed": ("{n} problem failed: {id} ({error}).", "{n} problems failed, the last of them {id} ({error})."),
    "problems_not_asked": ("{n} was not asked.", "{n} were not asked."),
    "prompt_without_problem": "the prompt has no {problem}, so the policy would not see the problem",
    "reference_column_missing": "the data set has no column {reference!r} with the reference answers",
    "results_of_other_settings": "{path} holds the result of other settings or problems: choose another --out",
    "reward_term_needs": "the reward's term {term!r} has a weight and needs a {name}",
    "search_rerun": "See {path}. Run the same command again to solve what is missing.",
}
