"""What stops scoring."""

SENTENCES: dict[str, str | tuple[str, str]] = {
    "answer_count_differs": (
        "{url} answers {n} text where it was asked {asked}",
        "{url} answers {n} texts where it was asked {asked}",
    ),
    "backbone_not_in_process": "this needs the backbone in this process, and the scorer has it on a server",
    "base_model_differs": "{model_dir} was trained on another {base!r} than the one found here",
    "block_without_steps": "blocks of {blocks} steps: a block has at least one",
    "blocks_out_of_order": "blocks at {starts}: the positions must rise from 0 and stay below {n}, the number of steps",
    "no_reusable_cache": "{name!r} keeps no cache of keys and values that a session could use",
    "not_servable_by_vllm": '{model_dir} cannot be served by vLLM, which gives the untuned backbone\'s last states and nothing else (here: lane {lane!r}, features {features}); train it with lane \'heads\' and features ["last", "separator"]',
    "outside_weights_differ": "{model_dir} holds other weights than its manifest says: no {error}",
    "server_serves_other_model": "{url} serves {names}: name the backbone among them, not {served!r}",
    "session_closed": "the session is closed",
    "solution_exceeds_gpu_memory": "the GPU's memory does not hold one solution of {shortest} tokens: {shortage}",
    "state_size_differs": "{url} gives {n} bytes for {tokens} tokens, where float32 states of width {width} have {expected}: it runs another backbone, or another pooling task",
    "states_not_finite": "{url} gives states that are not finite numbers",
    "states_scaled": "{url} scales states to length 1; start it with {start}",
    "weights_differ": "{model_dir} holds other weights than its manifest says: {error}",
}
