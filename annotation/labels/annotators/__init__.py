"""Each annotator's work: pace, references, bias, change and patterns, and the alarms that they raise."""
