"""Pushes an exported folder to the Hugging Face hub, with its card."""

from pathlib import Path

from prm.errors import DataError, ModelFileError, PRMError
from prm.messages import Message
from prm.portable.exporting import README

CONFLICT = 409


def push(folder: Path | str, name: str, *, public: bool = False, replace: bool = False) -> str:
    """Upload an exported folder as the model OWNER/NAME; returns its address.

    A new model is private unless `public`. An existing one changes only with `replace`, which also deletes its other
    files and leaves its visibility. Raises ModelFileError if the folder is no export, DataError without a token or
    for an existing model, and PRMError with the hub's reason.
    """
    from huggingface_hub import HfApi, get_token

    folder = Path(folder)
    if not (folder / README).is_file() or not (folder / "config.json").is_file():
        raise ModelFileError(Message("not_an_export", folder=folder))
    if get_token() is None:
        raise DataError(Message("hub_needs_token"))
    api = HfApi()
    try:
        address = api.create_repo(name, private=not public, exist_ok=replace)
        api.upload_folder(
            repo_id=name,
            folder_path=folder,
            commit_message="Upload a process reward model",
            delete_patterns="*" if replace else None,
        )
    except Exception as error:  # connections, access and names fail with errors of several packages
        if getattr(getattr(error, "response", None), "status_code", None) == CONFLICT:
            raise DataError(Message("hub_model_exists", name=name)) from None
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        raise PRMError(Message("hub_push_failed", name=name, error=reason)) from None
    return str(address)
