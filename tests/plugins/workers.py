"""The system's Chromium against Django's live server."""
