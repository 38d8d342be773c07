"""Measures the speed of the library, beside TRL's experimental PRM trainer and its documented ways of scoring."""
