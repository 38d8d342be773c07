"""How far annotators and sources agree: coefficients, intervals, the cells by which a project is cut, and rules."""
