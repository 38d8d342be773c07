"""How fast the library is, beside TRL's experimental PRM trainer and the ways of scoring that it documents."""
