"""Sentences of several areas of the library."""

SENTENCES: dict[str, str | tuple[str, str]] = {
    "backbone_error": "backbone {name!r}: {error}",
    "comma_list": "{one}, {other}",
    "in_sequence": "{one} {other}",
    "n_steps": ("{n} step", "{n} steps"),
    "no_such_path": "{path}: no such file",
    "not_a_server_address": "{url!r} is not a server address: it must begin with http:// or https://",
    "path_error": "{path}: {error}",
    "semicolon_list": "{one}; {other}",
    "server_error": "{url}{path}: {error}",
    "server_status": "{url}{path} returned status {code}: {answer}",
    "training_cancelled": "training was cancelled; run the same command to resume it",
}
