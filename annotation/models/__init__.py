"""The models, one subject a file. Import them from here."""

from annotation.models.annotation import FIRST_REVISION, IN_DOUBT, Annotation, Dispute, PathStep, SentBack, StepRating
from annotation.models.answer_check import AnswerCheck, OutcomeDisagreement
from annotation.models.api_token import ApiToken
from annotation.models.audit_entry import AuditEntry
from annotation.models.choices import (
    HIDDEN_LANES,
    JUDGED_LANES,
    MEASURING_LANES,
    HandOver,
    Lane,
    Role,
    Route,
    Scope,
    Taker,
)
from annotation.models.consensus_fit import ConsensusFit
from annotation.models.generation import Generation
from annotation.models.gold import GoldAnswer, PracticeAnswer, ScreeningDecision
from annotation.models.guideline_version import GuidelineVersion, parse_examples
from annotation.models.hint import Hint
from annotation.models.import_job import ImportGroup, ImportJob, ImportOptions, ImportRejection, parse_options
from annotation.models.job import Job, JobEntry, JobStage, StagedJob
from annotation.models.judging_run import JudgeCall, JudgedSolution, JudgingRun
from annotation.models.label_batch import LabelBatch
from annotation.models.label_source import LabelSource, MachineAnnotator
from annotation.models.model_job import ModelJob
from annotation.models.model_version import DomainChampion, ModelVersion
from annotation.models.policy import (
    HintsPolicy,
    LabelsWanted,
    LaneMix,
    ProjectPolicy,
    QueuePolicy,
    parse_policy,
)
from annotation.models.pool_score import PoolScore, PoolScoring, PoolShard
from annotation.models.preference import Preference
from annotation.models.project import MEMBER_NAME, Membership, Project
from annotation.models.queue import OPEN, OPEN_STATES, TURN, Draft, Frontier, LaneTally, Lease, QueueItem
from annotation.models.rounds_policy import RoundsPolicy
from annotation.models.sampling_run import SampledProblem, SamplingRun
from annotation.models.scheme import LabelScheme, parse_scheme
from annotation.models.served_score import ServedScore
from annotation.models.snapshot import ContaminationCheck, ExportJob, ExportSchedule, Snapshot
from annotation.models.solution import Critique, Problem, Solution, SolutionWords, Step
from annotation.models.training_run import RoundClock, RunPoint, RunStage, ShadowComparison, SimulationRun, TrainingRun
from annotation.models.upload import Upload
from annotation.models.webhook import Webhook, WebhookDelivery
