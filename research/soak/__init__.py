"""A project that works by itself through generations while its processes are killed; then the books are checked."""
