"""Model versions: their registration, the gate's verdict, which of them serve, and pins."""

from annotation.loop.registry.champions import (
    champion_for,
    champion_of,
    check_domain,
    choose_version,
    clear_domain_champion,
    confirm_version,
    crown,
    promote_version,
    require_weights,
    set_domain_champion,
)
from annotation.loop.registry.power import forecast_gate
from annotation.loop.registry.versions import pin_version, record_verdict, register_version, unpin_version
