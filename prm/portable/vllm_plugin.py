"""Registers the model class for exported ensembles with vLLM, by the entry point `vllm.general_plugins`."""

ARCHITECTURE = "StepmarkProcessRewardModel"


def register() -> None:
    """Called by vLLM in each of its processes; it loads the class when a model asks for it."""
    from vllm import ModelRegistry

    if ARCHITECTURE not in ModelRegistry.get_supported_archs():
        ModelRegistry.register_model(ARCHITECTURE, "prm.portable.vllm_model:ProcessRewardModel")
