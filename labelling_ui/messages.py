"""What is wrong with the forms of pages."""

SENTENCES: dict[str, str | tuple[str, str]] = {
    "columns_unreadable": "The columns cannot be read so: {error}.",
    "critiques_left": "Rate each of the explanations of step {n}, or none of them.",
}
