"""Algebra in LaTeX: equations, signs, powers, and plausible false rules."""

from fractions import Fraction

from prm.sandbox.work import Work, skill

ANSWER = "The answer is $#$.|So the answer is $#$."
VARIABLES = ("x", "y", "z", "t", "n", "u")


def pose(w: Work, *tasks: str) -> None:
    """Pose a task in one of several wordings, so that few problems share their text."""
    voice = w.pick(
        "", "Exercise: ", "For the test: ", "Homework: ", "Once more: ", "Question: ", "Warm-up: ", "A quick one: "
    )
    w.latex = True
    w.problem = voice + w.pick(*tasks)


@skill("math")
def linear_equation(w: Work) -> None:
    a, x, b, v = w.num(2, 9), w.num(2, 9), w.num(2, 12), w.pick(*VARIABLES)
    c = a * x + b
    pose(
        w,
        f"Solve ${a}{v} + {b} = {c}$ for ${v}$.",
        f"Find ${v}$ if ${a}{v} + {b} = {c}$.",
        f"For which ${v}$ is ${a}{v} + {b} = {c}$?",
    )
    w.step(
        f"The equation is ${a}{v} + {b} = #$.|We start from ${a}{v} + {b} = #$.",
        c,
        wrong=[("copied_number", f"The equation is ${a}{v} + {b} = #$.", c + a)],
    )
    myth = (f"Moving ${b}$ to the other side gives ${a}{v} = {c} + {b} = #$.", c + b)
    right = w.step(f"Subtracting ${b}$ from both sides gives ${a}{v} = {c} - {b} = #$.", c - b, myth=myth)
    w.answer(ANSWER, w.calc(f"Dividing by ${a}$,|Divide both sides by ${a}$:", right, "/", a))


@skill("math")
def binomial_square(w: Work) -> None:
    a, b, v = w.num(2, 9), w.num(2, 6), w.pick(*VARIABLES)
    pose(
        w,
        f"Compute $({v} + {b})^2$ for ${v} = {a}$ by expanding.",
        f"Expand $({v} + {b})^2$ and put ${v} = {a}$.",
        f"What is $({v} + {b})^2$ at ${v} = {a}$? Expand first.",
    )
    first = w.step(f"The first square is ${a}^2 = #$.", a * a)
    second = w.step(f"The second square is ${b}^2 = #$.", b * b)
    middle = w.calc("The middle term is", 2, "*", a, "*", b)
    myth = ("The square of a sum is the sum of the squares,", first, "+", second)
    w.answer(ANSWER, w.calc("In all,|The three terms add to", first, "+", middle, "+", second, myth=myth))


@skill("math")
def negative_bracket(w: Work) -> None:
    a, b, c, x, v = w.num(10, 20), w.num(2, 9), w.num(2, 5), w.num(1, 5), w.pick(*VARIABLES)
    pose(
        w,
        f"Simplify ${a} - ({b} - {c}{v})$ and put ${v} = {x}$.",
        f"Compute ${a} - ({b} - {c}{v})$ for ${v} = {x}$.",
        f"Find ${a} - ({b} - {c}{v})$ when ${v} = {x}$.",
    )
    constant = w.calc("The constants give", a, "-", b)
    term = w.calc(f"With ${v} = {x}$ the term is", c, "*", x)
    myth = (f"Dropping the bracket gives ${constant} - {term} = #$.", constant - term)
    w.answer(ANSWER, w.step(f"The minus turns both signs, so ${constant} + {term} = #$.", constant + term, myth=myth))


@skill("math")
def root_of_sum(w: Work) -> None:
    a, b, c = w.pick((3, 4, 5), (6, 8, 10), (5, 12, 13), (8, 15, 17), (9, 12, 15))
    shape = w.pick("right triangle", "ramp", "rectangle", "sail", "roof")
    pose(
        w,
        rf"Compute $\sqrt{{{a}^2 + {b}^2}}$.",
        f"A {shape} has perpendicular sides ${a}$ and ${b}$. How long is the third side or diagonal?",
        f"How far is the point $({a}, {b})$ from the origin?",
    )
    first = w.step(f"We have ${a}^2 = #$.", a * a)
    second = w.step(f"Also ${b}^2 = #$.", b * b)
    total = w.calc("The sum under the root is", first, "+", second)
    exact = c if total == c * c else round(float(abs(total)) ** 0.5)
    myth = (f"The root of the sum is the sum of the roots, ${a} + {b} = #$.", a + b)
    w.answer(ANSWER, w.step(rf"The root is $\sqrt{{{w.show(total)}}} = #$.", exact, myth=myth))


@skill("math")
def power_product(w: Work) -> None:
    a, b, c, v = w.num(2, 5), w.num(2, 4), w.num(2, 4), w.pick(*VARIABLES)
    pose(
        w,
        rf"Write ${v}^{{{a}}} \cdot {v}^{{{b}}} \cdot {v}^{{{c}}}$ as one power. Which exponent?",
        rf"Find the exponent of ${v}^{{{a}}} \cdot {v}^{{{b}}} \cdot {v}^{{{c}}}$.",
    )
    w.say(f"All factors have the base ${v}$.|The base is ${v}$ throughout.")
    w.step("The first exponent is $#$.", a)
    myth = ("The exponents are multiplied,", a, "*", b, "*", c)
    w.answer(ANSWER, w.calc("The exponents are added,", a, "+", b, "+", c, myth=myth))


@skill("math")
def negative_square(w: Work) -> None:
    a, b, v = w.num(2, 9), w.num(1, 9), w.pick(*VARIABLES)
    inside = w.pick(True, False)
    term = f"(-{v})^2" if inside else f"-{v}^2"
    pose(
        w,
        f"Evaluate ${term} + {b}$ at ${v} = {a}$.",
        f"What is ${term} + {b}$ for ${v} = {a}$?",
        f"Compute ${term} + {b}$ if ${v} = {a}$.",
    )
    square = w.step(f"The square of ${a}$ is ${a}^2 = #$.", a * a)
    plus, minus = (
        ("The minus is squared too, which gives $#$.", square),
        ("The minus stays before the square, which gives $#$.", -square),
    )
    right, myth = (plus, minus) if inside else (minus, plus)
    value = w.step(*right, myth=myth)
    w.answer(ANSWER, w.calc("Adding the constant gives", value, "+", b))


@skill("math")
def cancel_in_fraction(w: Work) -> None:
    a, b, x, v = w.num(2, 6), w.num(2, 6), w.num(2, 6), w.pick(*VARIABLES)
    pose(
        w,
        rf"Simplify $\frac{{{a}{v} + {a * b}}}{{{a}}}$ and put ${v} = {x}$.",
        rf"Find $\frac{{{a}{v} + {a * b}}}{{{a}}}$ for ${v} = {x}$.",
    )
    w.step(f"The number $#$ divides the first term, which leaves ${v}$.", a)
    myth = (f"Cancelling ${a}$ against ${a}{v}$ leaves ${v} + #$.", a * b)
    rest = w.step(rf"Dividing every term leaves ${v} + \frac{{{a * b}}}{{{a}}} = {v} + #$.", b, myth=myth)
    w.answer(ANSWER, w.calc(f"With ${v} = {x}$ we get", x, "+", rest))


@skill("math")
def inequality_flip(w: Work) -> None:
    a, b, v = w.num(2, 6), w.num(2, 9), w.pick(*VARIABLES)
    left, other = w.pick(("-", ""), ("", "-"))
    task = f"{left}{a}{v} < {other}{a * b}"
    pose(w, f"Solve ${task}$.", f"For which ${v}$ is ${task}$?", f"Find all ${v}$ with ${task}$.")
    bound = w.calc(f"The size of the bound is|Dividing by ${a}$,", a * b, "/", a)
    bound = w.step("One side has a minus, so the bound is $#$.", -bound)
    turned, kept = (
        ("The sign is turned, so $#$.", f"{v} > {w.show(bound)}"),
        ("The sign is kept, so $#$.", f"{v} < {w.show(bound)}"),
    )
    right, myth = (turned, kept) if left else (kept, turned)
    w.answer(ANSWER, w.step(*right, myth=myth))


@skill("math")
def two_unknowns(w: Work) -> None:
    x, y = w.num(5, 12), w.num(1, 4)
    v, u = w.two(VARIABLES)
    pose(
        w,
        f"Solve ${v} + {u} = {x + y}$ and ${v} - {u} = {x - y}$ for ${v}$ and give ${v} {u}$.",
        f"Given ${v} + {u} = {x + y}$ and ${v} - {u} = {x - y}$, find the product ${v} {u}$.",
    )
    double = w.calc(f"Adding the equations gives $2{v}$ as", x + y, "+", x - y)
    first = w.calc(f"Half of it is ${v}$:", double, "/", 2)
    second = w.calc(f"Then ${u}$ is", x + y, "-", first)
    w.answer(ANSWER, w.calc("The product is", first, "*", second))


@skill("math")
def series_sum(w: Work) -> None:
    first, n, v = w.num(1, 5), w.num(4, 9), w.pick(*VARIABLES)
    last = first + n - 1
    pose(
        w,
        f"Add the whole numbers ${v}$ with ${first} \\le {v} \\le {last}$.",
        f"Find the sum of all ${v}$ from ${first}$ to ${last}$.",
        rf"Compute $\sum_{{{v}={first}}}^{{{last}}} {v}$.",
    )
    myth = (f"From ${first}$ to ${last}$ there are ${last} - {first} = #$ numbers.", n - 1)
    count = w.step(f"There are ${last} - {first} + 1 = #$ numbers.", n, myth=myth)
    ends = w.calc("The two ends add to", first, "+", last)
    double = w.calc("Twice the sum is", count, "*", ends)
    w.answer(ANSWER, w.calc("The sum is", double, "/", 2))


@skill("math")
def log_sum(w: Work) -> None:
    a, b = w.num(2, 9), w.num(2, 9)
    base = w.pick("\\log", "\\ln", "\\lg", "\\log_{a}", "\\log_{b}")
    pose(
        w,
        f"Write ${base} {a} + {base} {b}$ as one logarithm. Of which number?",
        f"For which $k$ is ${base} k = {base} {a} + {base} {b}$?",
    )
    w.say("We use the rule for a sum of logarithms.|There is one rule for such sums.")
    w.step("The first number is $#$.", a)
    myth = (f"A sum of logarithms is the logarithm of the sum, ${a} + {b} = #$.", a + b)
    w.answer(
        ANSWER, w.step(rf"A sum of logarithms is the logarithm of the product, ${a} \times {b} = #$.", a * b, myth=myth)
    )


@skill("math")
def composed_function(w: Work) -> None:
    a, b, x = w.num(2, 5), w.num(1, 6), w.num(1, 6)
    f, g = w.two(("f", "g", "h", "p"))
    v, adds_first = w.pick(*VARIABLES), w.pick(True, False)
    task = f"{f}({g}({x}))" if adds_first else f"{g}({f}({x}))"
    pose(
        w,
        f"Let ${f}({v}) = {a}{v}$ and ${g}({v}) = {v} + {b}$. Find ${task}$.",
        f"With ${f}({v}) = {a}{v}$ and ${g}({v}) = {v} + {b}$, compute ${task}$.",
    )
    w.step("We put in $#$.|The input is $#$.", x)
    inner, outer = (g, f) if adds_first else (f, g)
    first = w.step(
        "From the inside out, we begin with $#$.", inner, myth=("From left to right, we begin with $#$.", outer)
    )
    for name in (first, f if first == g else g):
        x = w.calc(f"Here ${g}$ adds,", x, "+", b) if name == g else w.calc(f"Here ${f}$ multiplies,", a, "*", x)
    w.answer(ANSWER, x)


@skill("math")
def absolute_value(w: Work) -> None:
    a, b, v = w.num(1, 5), w.num(6, 9), w.pick(*VARIABLES)
    pose(
        w,
        rf"Solve $|{v} - {a}| = {b}$ and add up the solutions.",
        rf"What is the sum of all ${v}$ with $|{v} - {a}| = {b}$?",
    )
    high = w.calc("The first solution is", a, "+", b)
    low = w.calc("The second solution is", a, "-", b)
    myth = ("A distance is positive, so only the first solution counts and the sum is $#$.", high)
    w.answer(ANSWER, w.step(f"Their sum is ${w.expression((high, '+', low))} = #$.", high + low, myth=myth))


@skill("math")
def half_of_power(w: Work) -> None:
    n, m, v = w.num(3, 7), w.num(1, 2), w.pick(*VARIABLES)
    pose(
        w,
        f"If $2^{{{v}}} = 2^{{{n}}} / 2$, find $2^{{{v}}} + {m}$.",
        f"Half of $2^{{{n}}}$ is $2^{{{v}}}$. What is $2^{{{v}}} + {m}$?",
    )
    myth = (f"Half of the exponent ${n}$ is ${v} = #$.", Fraction(n, 2) if n % 2 else n // 2)
    exponent = w.step(f"Halving lowers the exponent by one, so ${v} = {n} - 1 = #$.", n - 1, myth=myth)
    power = w.step(f"So $2^{{{w.show(exponent)}}} = #$.", 2 ** int(exponent))
    w.answer(ANSWER, w.calc("Adding gives", power, "+", m))
