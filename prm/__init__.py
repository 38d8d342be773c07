"""The process reward model as a plain library: no Django, no Celery, no ORM."""
