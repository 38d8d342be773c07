"""Jobs on one model: audit, export, import, retention."""
