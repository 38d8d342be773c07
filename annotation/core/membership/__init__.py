"""Who may do what in which project, and the keys that programs use."""
