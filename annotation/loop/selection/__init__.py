"""What is labelled next: generations, candidates, lanes and their mix."""
