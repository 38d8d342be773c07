"""Fetches data sets of the Hugging Face hub, through the package `datasets` if it is installed."""

import re
from pathlib import Path

from prm.errors import DataError
from prm.files import replacing
from prm.messages import Message

NAME = re.compile(r"(?P<repo>[\w.-]+(?:/[\w.-]+)?)(?:@(?P<revision>[\w.-]+))?(?::(?P<split>[\w.-]+))?")


def fetch_dataset(name: str) -> Path:
    """A Parquet file with the rows of a data set, in the cache of `datasets`; downloaded if it changed.

    `name` is OWNER/NAME, OWNER/NAME:SPLIT or OWNER/NAME@REVISION:SPLIT. Raises DataError if `datasets` is not
    installed, the hub cannot be reached, or several splits exist and none is named.
    """
    match = NAME.fullmatch(name)
    if match is None:
        raise DataError(Message("hub_name_invalid", name=name))
    try:
        import datasets
    except ImportError:
        raise DataError(Message("hub_needs_datasets")) from None
    try:
        splits = datasets.load_dataset(match["repo"], revision=match["revision"])
    except Exception as error:  # connections, access and builders fail with errors of several packages
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        raise DataError(Message("hub_dataset_unreadable", name=name, error=reason)) from None
    split = match["split"] or (next(iter(splits)) if len(splits) == 1 else "")
    if split not in splits:
        names, repo = list(splits), match["repo"]
        raise DataError(Message("hub_split_needed", name=repo, first=names[0], names=", ".join(names)))
    rows = splits[split]
    folder = Path(datasets.config.HF_CACHE_HOME) / "stepmark" / rows._fingerprint
    path = folder / f"{match['repo'].replace('/', '--')}-{split}.parquet"
    if not path.exists():
        with replacing(path) as out:
            rows.to_parquet(out)
    return path
