"""How the API describes itself in OpenAPI."""

from typing import Literal

from drf_spectacular.openapi import AutoSchema

from annotation.api.errors import ErrorSerializer


class EndpointSchema(AutoSchema):
    """Adds to every endpoint that it answers what it refuses with the one error body.

    An endpoint that waits for a worker (`asks_a_worker`) may also find none, or not in time.
    """

    def get_responses_of_errors(self) -> dict[str, dict]:
        codes = ("4XX", "5XX") if getattr(self.view, "asks_a_worker", False) else ("4XX",)
        return {code: self._get_response_for_code(ErrorSerializer, code, ["application/json"]) for code in codes}

    def _get_response_bodies(self, direction: Literal["request", "response"] = "response") -> dict[str, dict]:
        return super()._get_response_bodies(direction) | self.get_responses_of_errors()
