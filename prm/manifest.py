"""The manifest of a model folder, and its verification. No torch."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from importlib.metadata import version
from itertools import combinations
from pathlib import Path

import msgspec

from prm.answers.noise import NoiseRates
from prm.config import TrainConfig
from prm.errors import ModelFileError
from prm.faults import UNDECODABLE, sentence_of
from prm.formats.mapping import Mapping
from prm.formats.trace_files import read_traces
from prm.messages import Message
from prm.threshold import Threshold
from prm.traces import Trace
from prm.trust import Trust
from prm.vocabulary import MACHINES, TOOL_STEPS


class Provenance(msgspec.Struct, omit_defaults=True):
    """The origin of labelled solutions and their labels, as recorded in the traces.

    Counts of solutions, by name; "" is unknown. `label_sources` counts a solution once for each kind of source that
    labelled it. `people` is the number of distinct names of humans; `machines` counts by name. `agreeing_pairs` of
    `pairs` of human labels of one solution have the same first error.
    """

    solutions: int
    generators: dict[str, int]
    domains: dict[str, int]
    label_sources: dict[str, int]
    people: int = 0
    machines: dict[str, int] = {}
    pairs: int = 0
    agreeing_pairs: int = 0
    with_tools: int = 0
    with_known_answer: int = 0


def provenance_of(traces: Sequence[Trace]) -> Provenance:
    """The provenance of these traces."""
    pairs = [pair for trace in traces for pair in combinations(_first_errors(trace), 2)]
    sources = (source for trace in traces for source in dict.fromkeys((s.kind, s.name) for s in trace.sources))
    named = (f"{kind}: {name or '(no name)'}" for kind, name in sources if kind in MACHINES)
    return Provenance(
        solutions=len(traces),
        generators=_counted(trace.generator for trace in traces),
        domains=_counted(trace.domain for trace in traces),
        label_sources=_counted(kind for trace in traces for kind in {s.kind for s in trace.sources} or [""]),
        people=len({s.name for trace in traces for s in trace.sources if s.kind == "human" and s.name}),
        machines=_counted(named),
        pairs=len(pairs),
        agreeing_pairs=sum(a == b for a, b in pairs),
        with_tools=sum(any(step.kind in TOOL_STEPS for step in trace.steps) for trace in traces),
        with_known_answer=sum(trace.final_answer_correct is not None for trace in traces),
    )


def _first_errors(trace: Trace) -> list[int]:
    """Each person's first error in the trace, the latest one if there are several."""
    errors = {
        s.name: s.first_error for s in trace.sources if s.kind == "human" and s.name and s.first_error is not None
    }
    return list(errors.values())


def _counted(names: Iterable[str]) -> dict[str, int]:
    """The number of occurrences of each name, the most frequent first."""
    return dict(Counter(names).most_common())


FORMAT = "stepmark-prm"
FORMAT_VERSION = 5
MANIFEST_FILE = "manifest.json"
WEIGHTS_FILE = "model.safetensors"


class PositionCount(msgspec.Struct):
    """The number of labelled steps at some positions, and of errors among them."""

    steps: int
    bad: float


class Counts(msgspec.Struct):
    """Counts of the training data; steps are those of the training part, including alternatives.

    `good` and `bad` are sums of targets under the neutral policy, before reliability weights; `neutral` is the sum of
    its posterior. `ignored` steps have no label or no weight; `not_scored` ones are beyond the context. `alternatives`
    form `pairs` with the other labelled completions at their positions. `by_position` counts from position 1.
    `left_out` solutions of the pool share their problem with the calibration split. Answers count if the outcome is
    learned. `provenance` covers all labelled solutions, including held-out ones.
    """

    solutions: int
    problems: int
    held_solutions: int
    steps: int
    good: float
    bad: float
    ignored: int
    not_scored: int
    neutral: float = 0.0
    alternatives: int = 0
    pairs: int = 0
    left_out: int = 0
    right_answers: int = 0
    wrong_answers: int = 0
    by_position: dict[str, PositionCount] = {}
    provenance: Provenance | None = None


class GradedCounts(msgspec.Struct):
    """Unread solutions that taught the step heads by their final answer, and the answer noise that was assumed."""

    right: int
    wrong: int
    noise: NoiseRates


class EstimateCounts(msgspec.Struct):
    """Unread solutions that taught the step heads by Monte Carlo estimates, their estimated steps, and the noise."""

    solutions: int
    steps: int
    noise: NoiseRates


class StageCost(msgspec.Struct, omit_defaults=True):
    """The cost of one stage: `tokens` of text through the backbone, the share of padding, and the model's arithmetic as
    a share of the device's peak; None if the backbone did not run."""

    seconds: float
    tokens: int | None = None
    tokens_per_second: float | None = None
    padded_share: float | None = None
    utilisation: float | None = None


class Costs(msgspec.Struct):
    """The cost of training since its last start; tokens and energy are of all processes together.

    `peak_flops` (FLOP/s of one device) is the basis of utilisation, from `peak_source`. `energy_joules` is None if no
    counter can be read.
    """

    device: str
    processes: int
    peak_flops: float
    peak_source: str
    peak_memory_bytes: int
    memory_kind: str
    energy_joules: float | None
    energy_source: str
    stages: dict[str, StageCost]


class Outside(msgspec.Struct):
    """A model that was trained elsewhere, with one head of `layers` linear layers on the state at the end of a step.

    `kind` is "token_classification", "process_reward" or "token_logits" (the head is two rows of the output layer); the
    head's class `good` is p(the step is right). The token ids are those before the problem, after it, after each step,
    and between two steps. `source` is the name of the imported folder.
    """

    kind: str
    source: str
    layers: int
    good: int
    start: tuple[int, ...]
    problem_end: tuple[int, ...]
    step_end: tuple[int, ...]
    between: tuple[int, ...] = ()


class Manifest(msgspec.Struct):
    """A trained model. `fitted_on` names the data behind `temperature` and `threshold`: "calibration" (that split),
    "validation" (source groups of the pool set aside), "distilled" (the exported model's) or "none"; after
    `recalibrate`, "labels" or "grades" for the threshold. `data_sha256` is of the labelled traces in any order,
    `versions["prm"]` of this library's code. `notes` are messages of the run, and `trust` the limits beyond which a
    score is doubtful. `graded` is None if no unread solution taught by its grade, and `estimated` if none taught by
    Monte Carlo estimates. `base` is a name, a path, or
    begins with "./" for a subfolder of the model. `outside` describes a model trained elsewhere."""

    base: str
    base_sha256: str
    config: TrainConfig
    data_sha256: str
    counts: Counts
    temperature: float
    threshold: Threshold
    fitted_on: str
    metrics: dict[str, float]
    created_at: str
    seconds: float
    versions: dict[str, str]
    checksums: dict[str, str]
    outcome_temperature: float = 1.0
    costs: Costs | None = None
    notes: list[str] = []
    trust: Trust | None = None
    graded: GradedCounts | None = None
    estimated: EstimateCounts | None = None
    outside: Outside | None = None
    format: str = FORMAT
    format_version: int = FORMAT_VERSION


def read_manifest(folder: Path) -> Manifest:
    """Read and check a model folder's manifest and checksums; raises ModelFileError with the reason."""
    path = folder / MANIFEST_FILE
    if not path.is_file():
        raise ModelFileError(Message("not_a_model_folder", folder=folder, name=MANIFEST_FILE))
    try:
        raw = msgspec.json.decode(path.read_bytes())
    except OSError as error:
        raise ModelFileError(Message("path_error", path=path, error=error.strerror)) from error
    except UNDECODABLE as error:
        raise ModelFileError(Message("file_corrupt", path=path, error=sentence_of(error))) from error
    if not isinstance(raw, dict) or raw.get("format") != FORMAT:
        raise ModelFileError(Message("not_a_manifest", path=path))
    if raw.get("format_version") != FORMAT_VERSION:
        raise ModelFileError(
            Message("manifest_version_differs", path=path, found=raw.get("format_version"), known=FORMAT_VERSION)
        )
    try:
        manifest = msgspec.convert(raw, Manifest)
    except msgspec.ValidationError as error:
        raise ModelFileError(Message("file_corrupt", path=path, error=sentence_of(error))) from error
    if WEIGHTS_FILE not in manifest.checksums:
        raise ModelFileError(Message("checksum_missing", path=path, name=WEIGHTS_FILE))
    for name, expected in manifest.checksums.items():
        if Path(name).name != name:
            raise ModelFileError(Message("file_outside_folder", path=path, name=name))
        try:
            actual = file_sha256(folder / name)
        except OSError as error:
            raise ModelFileError(Message("path_error", path=folder / name, error=error.strerror)) from error
        if actual != expected:
            raise ModelFileError(Message("checksum_differs", path=folder / name))
    return manifest


def base_of(folder: Path, manifest: Manifest) -> str:
    """The name or path by which a model folder's backbone is loaded."""
    return str(folder / manifest.base) if manifest.base.startswith("./") else manifest.base


def finished_model(folder: Path, config: TrainConfig, data: str) -> Manifest | None:
    """The manifest of a folder whose model has this config, data (by digest) and code, else None.

    It compares the backbone's name only; the caller compares its weights.
    """
    try:
        manifest = read_manifest(folder)
    except ModelFileError:
        return None
    same = (manifest.config, manifest.data_sha256, manifest.versions) == (config, data, current_versions())
    return manifest if same else None


def current_versions() -> dict[str, str]:
    """The versions that a training depends on: the digest of this library's code, and those of its dependencies."""
    return {"prm": library_sha256()[:16]} | {name: version(name) for name in ("torch", "transformers", "safetensors")}


@lru_cache(maxsize=1)
def library_sha256() -> str:
    """Digest of the library's source files."""
    root = Path(__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + file_sha256(path).encode())
    return digest.hexdigest()


def data_sha256(path: Path, mapping: Mapping | None = None) -> str:
    """`traces_sha256` of a file's traces; raises DataError naming file, line and field."""
    return traces_sha256(read_traces(path, mapping))


def traces_sha256(traces: Iterable[Trace]) -> str:
    """Digest of traces in any order."""
    digest = hashlib.sha256()
    for one in sorted(map(trace_sha256, traces)):
        digest.update(one)
    return digest.hexdigest()


def trace_sha256(trace: Trace) -> bytes:
    """Digest of a trace's complete content."""
    return hashlib.sha256(msgspec.json.encode(trace, order="sorted")).digest()


def file_sha256(path: Path) -> str:
    """Hex digest of a file's bytes."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
