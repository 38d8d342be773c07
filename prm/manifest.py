"""What a model folder says about itself, and the check that it is whole. No torch."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from importlib.metadata import version
from itertools import combinations
from pathlib import Path

import msgspec

from prm.config import TrainConfig
from prm.errors import ModelFileError
from prm.faults import UNDECODABLE, sentence_of
from prm.formats.trace_files import read_traces
from prm.messages import Message
from prm.traces import Trace
from prm.trust import Trust
from prm.vocabulary import MACHINES, TOOL_STEPS

PEOPLE = frozenset({"human"})


class Provenance(msgspec.Struct, omit_defaults=True):
    """Where labelled solutions and their labels come from, as far as the traces say.

    Counts of solutions, by name; "" stands for what the traces do not say.

    `label_sources` counts by kind of source, a solution once for each kind that labelled it. `people` are distinct
    names of humans, `machines` counts by name of a machine. `agreeing_pairs` of `pairs` of human labels of one
    solution name the same first error.
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
    """Count what the traces say of themselves."""
    pairs = [pair for trace in traces for pair in combinations(_first_errors(trace), 2)]
    sources = (source for trace in traces for source in dict.fromkeys((s.kind, s.name) for s in trace.sources))
    named = (f"{kind}: {name or '(no name)'}" for kind, name in sources if kind in MACHINES)
    return Provenance(
        solutions=len(traces),
        generators=_counted(trace.generator for trace in traces),
        domains=_counted(trace.domain for trace in traces),
        label_sources=_counted(kind for trace in traces for kind in ({s.kind for s in trace.sources} or {""})),
        people=len({s.name for trace in traces for s in trace.sources if s.kind in PEOPLE and s.name}),
        machines=_counted(named),
        pairs=len(pairs),
        agreeing_pairs=sum(a == b for a, b in pairs),
        with_tools=sum(any(step.kind in TOOL_STEPS for step in trace.steps) for trace in traces),
        with_known_answer=sum(trace.final_answer_correct is not None for trace in traces),
    )


def _first_errors(trace: Trace) -> list[int]:
    """What each person took for the first error, the latest word of those who spoke twice."""
    errors = {s.name: s.first_error for s in trace.sources if s.kind in PEOPLE and s.name and s.first_error is not None}
    return list(errors.values())


def _counted(names: Iterable[str]) -> dict[str, int]:
    """How often each name comes, the most frequent first."""
    return dict(Counter(names).most_common())


FORMAT = "stepmark-prm"
FORMAT_VERSION = 1
MANIFEST_FILE = "manifest.json"
WEIGHTS_FILE = "model.safetensors"


class PositionCount(msgspec.Struct):
    """How many labelled steps stood at some positions, and how many of them were errors."""

    steps: int
    bad: float


class Counts(msgspec.Struct):
    """What the training data held; steps are those of the training part, alternatives included.

    `good` and `bad` are sums of targets under the neutral policy, before reliability weights; `neutral` is the
    sum of that posterior. `ignored` steps carried no label or no weight, `not_scored` lay beyond the context.
    `alternatives` were read beside their solutions' paths and make `pairs` with the other labelled completions
    of their positions. `by_position` counts from position 1. `left_out` solutions of the pool share
    their problem with the calibration split. Answers are counted where the outcome is learned. `provenance` is
    of all labelled solutions, those held among them; None in a manifest written before there was one.
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


class StageCost(msgspec.Struct, omit_defaults=True):
    """One stage: `tokens` of text that went through the backbone, the share of its places that was padding, and
    the model's arithmetic as a share of the device's peak. None where the backbone did not run."""

    seconds: float
    tokens: int | None = None
    tokens_per_second: float | None = None
    padded_share: float | None = None
    utilisation: float | None = None


class Costs(msgspec.Struct):
    """What the training cost, from the last start of it on; tokens and energy of all processes together.

    `peak_flops` (FLOP/s of one device) is what utilisation is measured against, `peak_source` where it comes from;
    `energy_joules` None where no counter can be read.
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
    """A model that was trained elsewhere, with one head of `layers` linear layers on the state that ends a step.

    `kind` is "token_classification" or "process_reward"; class `good` of the head's is p(the step is right). Token ids
    stand before the problem, after it, and after each step. `source` is the folder's name as it was imported.
    """

    kind: str
    source: str
    layers: int
    good: int
    start: tuple[int, ...]
    problem_end: tuple[int, ...]
    step_end: tuple[int, ...]


class Manifest(msgspec.Struct):
    """A trained model. `fitted_on` names the data behind `temperature` and `threshold`:
    "calibration" (that split), "validation" (source groups of the pool set aside) or "none". `data_sha256` is of
    the labelled traces whatever their order, `versions["prm"]` of this library's code, `notes` what happened, `trust`
    the bars beyond which a score is doubted; None in a manifest written before there were any. `base` is a name, a
    path, or begins with "./" for a folder of the model's own. `outside` is there for a model trained elsewhere."""

    base: str
    base_sha256: str
    config: TrainConfig
    data_sha256: str
    counts: Counts
    temperature: float
    threshold: float
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
    """The manifest of a folder whose model came of this config, these data (their digest) and this code, else None.

    The backbone is known by its name alone here: that its weights are the same is for who loads it to check.
    """
    try:
        manifest = read_manifest(folder)
    except ModelFileError:
        return None
    same = (manifest.config, manifest.data_sha256, manifest.versions) == (config, data, current_versions())
    return manifest if same else None


def current_versions() -> dict[str, str]:
    """What a training depends on: this library's code, by its digest, and the libraries below it."""
    return {"prm": library_sha256()[:16]} | {name: version(name) for name in ("torch", "transformers", "safetensors")}


@lru_cache(maxsize=1)
def library_sha256() -> str:
    """Digest of the library's source files."""
    root = Path(__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + file_sha256(path).encode())
    return digest.hexdigest()


def data_sha256(path: Path) -> str:
    """`traces_sha256` of a file's traces; raises DataError naming file, line and field."""
    return traces_sha256(read_traces(path))


def traces_sha256(traces: Iterable[Trace]) -> str:
    """Digest of traces, whatever their order."""
    digest = hashlib.sha256()
    for one in sorted(map(trace_sha256, traces)):
        digest.update(one)
    return digest.hexdigest()


def trace_sha256(trace: Trace) -> bytes:
    """Digest of everything that a trace holds."""
    return hashlib.sha256(msgspec.json.encode(trace, order="sorted")).digest()


def file_sha256(path: Path) -> str:
    """Hex digest of a file's bytes."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
