"""The work of annotators: the queue, labelling, practice, screening and hidden gold."""
