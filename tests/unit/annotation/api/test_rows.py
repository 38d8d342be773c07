"""A row of the API may be null wherever the column behind it may."""

from typing import Annotated, get_args, get_origin

import msgspec
import pytest

from annotation.api.audit_entries import AuditRow
from annotation.api.batches import BatchRow
from annotation.api.boundary import Row
from annotation.api.consensus_fits import FitRow
from annotation.api.disputes import DisputeRow
from annotation.api.exports import ExportJobRow, ExportScheduleRow
from annotation.api.generations import GenerationRow
from annotation.api.gold import GoldRow, ScreeningDecisionRow
from annotation.api.imports import ImportGroupRow, ImportRow
from annotation.api.judgings import JudgeCallRow, JudgingRow
from annotation.api.labels import ChosenStep, HintOfLabel, LabelRow, RatingRow
from annotation.api.learning import ComparisonRow
from annotation.api.machines import MachineRow
from annotation.api.model_jobs import ModelJobRow
from annotation.api.model_versions import DomainChampionRow, ModelVersionRow, PoolScoringRow
from annotation.api.outcomes import AnswerCheckRow
from annotation.api.people import PersonRow
from annotation.api.projects import ProjectRow
from annotation.api.queue_items import QueueItemRow
from annotation.api.reviews import SentBackRow
from annotation.api.runs import PointRow, RunRow, StageRow
from annotation.api.samplings import SamplingRow
from annotation.api.snapshots import ContaminationRow, SnapshotRow
from annotation.api.solutions import ProblemRow, SolutionRow, StepRow
from annotation.api.statistics import SourceRow
from annotation.api.tokens import TokenRow
from annotation.api.uploads import UploadRow
from annotation.api.webhooks import DeliveryRow, WebhookRow
from annotation.models import (
    Annotation,
    AnswerCheck,
    ApiToken,
    AuditEntry,
    ConsensusFit,
    ContaminationCheck,
    Dispute,
    DomainChampion,
    ExportJob,
    ExportSchedule,
    Generation,
    GoldAnswer,
    Hint,
    ImportGroup,
    ImportJob,
    JudgeCall,
    JudgingRun,
    LabelBatch,
    LabelSource,
    MachineAnnotator,
    Membership,
    ModelJob,
    ModelVersion,
    PathStep,
    PoolScoring,
    Problem,
    Project,
    QueueItem,
    RunPoint,
    RunStage,
    SamplingRun,
    ScreeningDecision,
    SentBack,
    ShadowComparison,
    Snapshot,
    Solution,
    Step,
    StepRating,
    TrainingRun,
    Upload,
    Webhook,
    WebhookDelivery,
)

MODELS: dict[type[Row], type] = {
    AnswerCheckRow: AnswerCheck,
    AuditRow: AuditEntry,
    BatchRow: LabelBatch,
    ChosenStep: PathStep,
    ExportJobRow: ExportJob,
    ExportScheduleRow: ExportSchedule,
    ContaminationRow: ContaminationCheck,
    FitRow: ConsensusFit,
    ComparisonRow: ShadowComparison,
    DisputeRow: Dispute,
    DomainChampionRow: DomainChampion,
    GenerationRow: Generation,
    GoldRow: GoldAnswer,
    HintOfLabel: Hint,
    ImportGroupRow: ImportGroup,
    ImportRow: ImportJob,
    JudgeCallRow: JudgeCall,
    JudgingRow: JudgingRun,
    LabelRow: Annotation,
    ModelJobRow: ModelJob,
    MachineRow: MachineAnnotator,
    ModelVersionRow: ModelVersion,
    PersonRow: Membership,
    PointRow: RunPoint,
    PoolScoringRow: PoolScoring,
    ProblemRow: Problem,
    ProjectRow: Project,
    QueueItemRow: QueueItem,
    RatingRow: StepRating,
    RunRow: TrainingRun,
    SamplingRow: SamplingRun,
    ScreeningDecisionRow: ScreeningDecision,
    SentBackRow: SentBack,
    SnapshotRow: Snapshot,
    SolutionRow: Solution,
    SourceRow: LabelSource,
    StageRow: RunStage,
    StepRow: Step,
    TokenRow: ApiToken,
    UploadRow: Upload,
    DeliveryRow: WebhookDelivery,
    WebhookRow: Webhook,
}


@pytest.mark.parametrize("row", MODELS, ids=lambda row: row.__name__)
def test_what_may_be_null_in_the_database_may_be_null_in_the_api(row):
    columns = {field.name: field for field in MODELS[row]._meta.concrete_fields}
    nullable = {name for name, column in columns.items() if column.null}
    fields = {field.name: field.type for field in msgspec.structs.fields(row)}
    assert {name for name in nullable & set(fields) if not accepts_null(fields[name])} == set()


def accepts_null(kind):
    if get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    return type(None) in get_args(kind)
