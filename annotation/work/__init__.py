"""What people do: the queue, labelling, practice, screening and hidden gold."""
