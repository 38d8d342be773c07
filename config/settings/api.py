"""Settings of the HTTP API and of its OpenAPI description."""

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "annotation.api.authentication.TokenAuthentication",
        "annotation.api.authentication.BrowserAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": [
        "rest_framework.permissions.IsAuthenticated",
        "annotation.api.scopes.HasScope",
    ],
    "DEFAULT_THROTTLE_CLASSES": ["annotation.api.limits.AccountLimit"],
    "DEFAULT_RENDERER_CLASSES": ["annotation.api.rendering.StructRenderer"],
    "DEFAULT_PARSER_CLASSES": ["annotation.api.parsing.JSONParser"],
    "DEFAULT_SCHEMA_CLASS": "annotation.api.schema.EndpointSchema",
    "EXCEPTION_HANDLER": "annotation.api.errors.present_error",
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
    "URL_FORMAT_OVERRIDE": None,  # `?format=` names a file format of ours
}

SPECTACULAR_SETTINGS = {
    "TITLE": "Stepmark",
    "DESCRIPTION": "Labels on the steps of reasoning, and the process reward model that learns from them.",
    "VERSION": "1",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.IsAuthenticated"],
    "OAS_VERSION": "3.1.1",
    "POSTPROCESSING_HOOKS": [],
}
