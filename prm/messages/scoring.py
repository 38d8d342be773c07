"""What stops scoring."""

SENTENCES: dict[str, str | tuple[str, str]] = {
    "answer_count_differs": ("{url} returned {n} text, expected {asked}", "{url} returned {n} texts, expected {asked}"),
    "backbone_not_in_process": "this needs the backbone in the same process, but the scorer uses a server",
    "base_model_differs": "{model_dir} was trained on a different {base!r} from the one on this machine",
    "block_without_steps": "block size {blocks}: a block must have at least one step",
    "blocks_out_of_order": "blocks at {starts}: positions must begin at 0, increase and stay below {n}, the number of steps",
    "no_reusable_cache": "{name!r} has no key-value cache that a session could reuse",
    "not_a_vllm_answer": "{url}{path} returned a response that is not vLLM's: {error}",
    "not_servable_by_vllm": 'vLLM cannot serve {model_dir}: it returns only the last states of the untuned backbone, and this model has lane {lane!r} and features {features}; train it with lane \'heads\' and features ["last", "separator"]',
    "outside_weights_differ": "{model_dir} has different weights from its manifest: no {error}",
    "server_serves_other_model": "{url} serves {names}, not {served!r}: set the backbone to one of them",
    "server_timed_out": "{url}{path} did not respond within {timeout:g} s",
    "session_closed": "the session is closed",
    "solution_exceeds_gpu_memory": "the GPU has too little memory for one solution of {shortest} tokens: {shortage}",
    "state_size_differs": "{url} returned {n} bytes for {tokens} tokens, expected {expected} (float32 states of width {width}): it runs another backbone or another pooling task",
    "states_not_finite": "{url} returned states that are not finite numbers",
    "states_scaled": "{url} scales states to length 1; start it with {start}",
    "weights_differ": "{model_dir} has different weights from its manifest: {error}",
}
