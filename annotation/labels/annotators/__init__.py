"""Each annotator's work: pace, references, bias, change, patterns, effects of hints, and the alarms that they raise."""
