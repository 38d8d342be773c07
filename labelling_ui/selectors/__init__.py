"""What the pages read: each module asks the database for the figures of one concern. Nothing here writes."""
