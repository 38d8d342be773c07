"""Writes the model card beside the weights, from the registry's record of the version."""

from annotation.loop.gateway.training import model_path
from annotation.models import ModelVersion
from prm.cards.folder import EVALUATIONS_FOLDER, write_card
from prm.cards.model import FITTED_ON
from prm.evaluation.evaluation import Evaluation, Threshold
from prm.files import write_json
from prm.manifest import read_manifest

EVALUATION = "holdout.json"


def write_model_card(version: ModelVersion) -> None:
    """Write CARD.md; the figures of the holdout are those of `version.metrics`. Raises OSError, PRMError."""
    folder = model_path(version)
    if report := version.metrics.challenger:
        evaluation = Evaluation(
            model=f"model {version.number}",
            model_sha256=version.sha256,
            data="the project's holdout",
            files={"snapshot": version.snapshot.sha256} if version.snapshot else {},
            measured_at=version.metrics.measured_at or version.created_at.isoformat(),
            threshold=Threshold(report.threshold, FITTED_ON[read_manifest(folder).fitted_on]),
            steps=report,
        )
        (folder / EVALUATIONS_FOLDER).mkdir(exist_ok=True)
        write_json(folder / EVALUATIONS_FOLDER / EVALUATION, [evaluation])
    write_card(folder)
