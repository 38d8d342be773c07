"""Messages between the web process and the worker."""

from typing import Annotated, Literal

import msgspec

from annotation.core.bounds import about
from annotation.core.wording import read_message
from annotation.loop.gateway.serving_model import Text
from prm.messages import Message, as_json
from prm.threshold import Threshold
from prm.trust import Scored

Kind = Literal["score", "append", "states"]
Route = Literal["score", "pooling", "session"]


class Question(msgspec.Struct):
    """One request. `version` is the id of the requested ModelVersion, None for the champion of project and domain.

    `asked_at` and `deadline` are Unix times in seconds: nobody waits for the answer after the deadline. `ids` are the
    token ids of texts for the kind "states". `answer_to` is the list in Redis that receives the answer.
    """

    id: str
    kind: Kind
    route: Route
    project: int
    user: int
    asked_at: float
    deadline: float
    answer_to: str = ""
    domain: str = ""
    version: int | None = None
    token: int | None = None
    aggregate: str = "product"
    texts: list[Text] = []
    ids: list[list[int]] = []


class Served(msgspec.Struct):
    """Which model answered. `snapshot` is the id of the labels it learned from, None for an outside model."""

    id: Annotated[int, about("The id of the model version.")]
    number: int
    sha256: str
    snapshot: Annotated[int | None, about("The id of the training data; null for an outside model.")]
    snapshot_sha256: str | None
    threshold: Annotated[
        Threshold, about("The threshold on the probability of good, below which a step counts as bad.")
    ]


class Failure(msgspec.Struct):
    """The error that the API returns in place of an answer."""

    status: int
    code: str
    message: Message
    extra: dict[str, str | int | float | None] = {}


class Answer(msgspec.Struct):
    """`results` has one entry per text. `states` has one entry per text: `width` little-endian float32 per token.

    `tokens` are counted for the pooling route only. `batch` is how many questions were scored together.
    """

    served: Served | None = None
    results: list[Scored] = []
    states: list[bytes] = []
    width: int = 1
    tokens: int = 0
    batch: int = 1
    failure: Failure | None = None


encode = msgspec.msgpack.Encoder(enc_hook=as_json).encode
decode_question = msgspec.msgpack.Decoder(Question).decode
decode_answer = msgspec.msgpack.Decoder(Answer, dec_hook=read_message).decode
