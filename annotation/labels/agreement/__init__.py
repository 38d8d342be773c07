"""How far annotators agree: coefficients, their intervals, and the cells by which a project is cut."""
