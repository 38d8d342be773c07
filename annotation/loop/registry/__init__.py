"""Model versions: registered by a run or an import, judged by the gate, served, pinned, and in the end let go."""

from annotation.loop.registry.champions import (
    champion_for,
    champion_of,
    check_domain,
    choose_version,
    clear_domain_champion,
    confirm_version,
    crown,
    promote_version,
    set_domain_champion,
)
from annotation.loop.registry.versions import pin_version, record_verdict, register_version, unpin_version
