"""Sentences of several areas of the library."""

SENTENCES: dict[str, str | tuple[str, str]] = {
    "backbone_error": "backbone {name!r}: {error}",
    "comma_list": "{one}, {other}",
    "in_sequence": "{one} {other}",
    "n_steps": ("{n} step", "{n} steps"),
    "no_such_path": "{path}: no such file",
    "not_a_server_address": "{url!r} is no address of a server: it begins with http:// or https://",
    "path_error": "{path}: {error}",
    "semicolon_list": "{one}; {other}",
    "server_answer_unreadable": "{url}{path} answers something else than asked for: {error}",
    "server_error": "{url}{path}: {error}",
    "server_status": "{url}{path} answers {code}: {answer}",
    "server_timed_out": "{url}{path} did not answer within {timeout:g} s",
    "training_cancelled": "training was cancelled; the same command resumes it",
}
