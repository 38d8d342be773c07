"""Presets of datasets: a purpose with its filters and formats, for the page, the API and the command line."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from annotation.core.errors import DomainError
from annotation.models import Annotation, LabelSource, Project
from prm.formats.registry import RECORDS
from prm.messages import Message
from prm.vocabulary import SOURCE_KINDS


@dataclass(frozen=True)
class Preset:
    """The filters and formats for a purpose, under a name that people choose by.

    `formats` are the exporters for the purpose, best first. `one_kind` limits the labels to one source kind, because
    most formats for training cannot state it.
    """

    name: str
    title: Promise
    summary: Promise
    filters: Mapping[str, Any]
    formats: tuple[str, ...]
    one_kind: bool = False

    def filters_for(self, project: Project) -> dict[str, Any]:
        """The filters, as `create_snapshot` expects them; the one kind is people if the project has their labels."""
        kind = _first_kind(project) if self.one_kind else None
        return {**self.filters, **({"source_kinds": [kind]} if kind else {})}


PRESETS = {
    preset.name: preset
    for preset in (
        Preset(
            "train",
            _("Train a PRM"),
            _("Pool solutions with labels of one kind: people’s, if there are any. Calibration and holdout stay out."),
            {"splits": ["pool"]},
            ("trl", "trl_parquet", "prm800k", "math_shepherd", "rlhflow", "openrlhf", "preference", "sft"),
            one_kind=True,
        ),
        Preset(
            "evaluate",
            _("Evaluate a model"),
            _("Holdout solutions with labels of one kind, made without a model’s hints."),
            {"splits": ["holdout"], "hints": "left_out"},
            ("processbench", "prmbench", "mr_ben", "big_bench_mistake", "who_and_when", "best_of_n"),
            one_kind=True,
        ),
        Preset(
            "share",
            _("Share publicly"),
            _("All splits and source kinds. Gold, batches set aside and critiques that people wrote stay out."),
            {},
            ("huggingface", "parquet", "csv"),
        ),
        Preset(
            "archive",
            _("Archive everything"),
            _("Every solution and every revision of its labels, with gold, batches set aside and critiques."),
            {
                "min_annotations": 0,
                "revisions": "all",
                "set_aside": "included",
                "gold": "included",
                "critiques": "included",
            },
            (RECORDS,),
        ),
    )
}


def preset_filters(project: Project, name: str, filters: Mapping[str, Any]) -> dict[str, Any]:
    """The filters of a preset, where `filters` have none of the same name; without a name, `filters` alone.

    Raises DomainError (`unknown_preset`).
    """
    if not name:
        return dict(filters)
    if name not in PRESETS:
        raise DomainError(Message("unknown_preset", preset=name, known=", ".join(PRESETS)), {"field": "preset"})
    return PRESETS[name].filters_for(project) | dict(filters)


def _first_kind(project: Project) -> str | None:
    """The first source kind of the vocabulary, which begins with people, of which the project has labels."""
    has_labels = Exists(Annotation.objects.filter(source=OuterRef("pk")))
    kinds = set(LabelSource.objects.filter(has_labels, project=project).values_list("kind", flat=True))
    return next((kind for kind in SOURCE_KINDS if kind in kinds), None)
