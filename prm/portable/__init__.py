"""Models as folders that travel: out as a Hugging Face folder with a small head file, in from here and elsewhere."""
