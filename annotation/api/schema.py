"""How the API describes itself in OpenAPI."""

from typing import Literal

from drf_spectacular.openapi import AutoSchema

from annotation.api.errors import ErrorSerializer


class EndpointSchema(AutoSchema):
    """Adds to every endpoint that it answers what it refuses with the one error body."""

    def get_responses_of_errors(self) -> dict[str, dict]:
        return {"4XX": self._get_response_for_code(ErrorSerializer, "4XX", ["application/json"])}

    def _get_response_bodies(self, direction: Literal["request", "response"] = "response") -> dict[str, dict]:
        return super()._get_response_bodies(direction) | self.get_responses_of_errors()
