"""What stops search, policies and rewards."""

SENTENCES: dict[str, str | tuple[str, str]] = {
    "answer_without_choice": "{url}{path} returned no choice",
    "beam_search_with_hidden_reasoning": "the policy writes hidden reasoning, which beam search cannot follow: turn thinking off on the server, or use best-of-n",
    "critique_needs_chat": "a critique is sent as a user message, which needs the chat API",
    "key_file_empty": "{path} contains no key",
    "other_solutions_answered": "{url}{path} returned scores for other solutions than the request's",
    "problems_failed": ("{n} problem failed: {id} ({error}).", "{n} problems failed, most recently {id} ({error})."),
    "problems_not_asked": ("{n} was not attempted.", "{n} were not attempted."),
    "prompt_without_problem": "the prompt has no {problem}, so the policy would not see the problem",
    "reference_column_missing": "the data set has no column {reference!r} with the reference answers",
    "results_of_other_settings": "{path} has results for other settings or problems: choose another --out",
    "reward_term_needs": "the reward term {term!r} has a weight, so it needs a {name}",
    "search_rerun": "See {path}. Run the same command again to solve the remaining problems.",
}
