"""The process reward model as a plain library: no Django, no Celery, no ORM.

Every name below is loaded when it is first used, so that `import prm` does not import torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prm.config import Progress as Progress, TrainConfig as TrainConfig
    from prm.errors import (
        Cancelled as Cancelled,
        DataError as DataError,
        ModelFileError as ModelFileError,
        PRMError as PRMError,
        ScoringError as ScoringError,
        TrainingError as TrainingError,
    )
    from prm.evaluation.report import Report as Report, evaluate as evaluate
    from prm.formats.hub import fetch_dataset as fetch_dataset
    from prm.formats.mapping import LabelMapping as LabelMapping, Mapping as Mapping, StepsMapping as StepsMapping
    from prm.formats.trace_files import read_traces as read_traces
    from prm.manifest import Manifest as Manifest, read_manifest as read_manifest
    from prm.portable.classifiers import export_classifier as export_classifier
    from prm.portable.exporting import export_folder as export_folder
    from prm.portable.importing import adopt as adopt
    from prm.portable.pushing import push as push
    from prm.recalibration import recalibrate as recalibrate
    from prm.scores import StepScore as StepScore, TraceScore as TraceScore
    from prm.scoring.scorer import Scorer as Scorer
    from prm.scoring.session import Session as Session
    from prm.threshold import Threshold as Threshold
    from prm.traces import (
        Alternative as Alternative,
        LabelSource as LabelSource,
        Step as Step,
        StepLabel as StepLabel,
        Trace as Trace,
        write_traces as write_traces,
    )
    from prm.training.run import train as train

__version__ = "0.1.0"

_NAMES = {
    "prm.config": ("Progress", "TrainConfig"),
    "prm.errors": ("Cancelled", "DataError", "ModelFileError", "PRMError", "ScoringError", "TrainingError"),
    "prm.evaluation.report": ("Report", "evaluate"),
    "prm.formats.hub": ("fetch_dataset",),
    "prm.formats.mapping": ("LabelMapping", "Mapping", "StepsMapping"),
    "prm.formats.trace_files": ("read_traces",),
    "prm.manifest": ("Manifest", "read_manifest"),
    "prm.portable.classifiers": ("export_classifier",),
    "prm.portable.exporting": ("export_folder",),
    "prm.portable.importing": ("adopt",),
    "prm.portable.pushing": ("push",),
    "prm.recalibration": ("recalibrate",),
    "prm.scores": ("StepScore", "TraceScore"),
    "prm.scoring.scorer": ("Scorer",),
    "prm.scoring.session": ("Session",),
    "prm.threshold": ("Threshold",),
    "prm.traces": ("Alternative", "LabelSource", "Step", "StepLabel", "Trace", "write_traces"),
    "prm.training.run": ("train",),
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names}

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'prm' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
