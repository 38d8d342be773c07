"""Traces of small Python programs: loops, lists, scope, and counterintuitive behaviour."""

from prm.sandbox.work import Work, skill

QUESTIONS = (
    "What does this program print?",
    "Trace this program. What is printed?",
    "Give the output.",
    "What is the output of this code?",
    "Follow the code and give the last line printed.",
    "Read the code. What appears on the screen?",
    "Which number comes out of this program?",
    "Run this code in your head. What does it show?",
)
RESULT = "The program prints #.|So the output is #."


def show_program(w: Work, *lines: str) -> None:
    """Pose the question for a program."""
    w.problem = w.pick(*QUESTIONS) + "\n```python\n" + "\n".join(lines) + "\n```"


def sums(w: Work) -> str:
    return str(w.pick("total", "s", "acc", "result", "out"))


def loops(w: Work) -> str:
    return str(w.pick("i", "k", "j", "n"))


def lists(w: Work) -> str:
    return str(w.pick("xs", "items", "data", "row", "vals", "line", "bag"))


@skill("programs")
def loop_sum(w: Work) -> None:
    s, i, start, stop, factor = sums(w), loops(w), w.num(0, 9), w.pick(3, 4, 5, 6, 9), w.num(1, 4)
    show_program(w, f"{s} = {start}", f"for {i} in range({stop}):", f"    {s} += {i} * {factor}", f"print({s})")
    last = w.step(f"The last {i} in range({stop}) is #.", stop - 1, myth=(f"The loop runs up to {i} = #.", stop))
    value = w.step(f"Before the loop {s} = #.", start)
    for k in range(min(int(last), 12) + 1):
        value = w.calc(f"With {i} = {k} we get {s} =", value, "+", k * factor)
    w.answer(RESULT, value)


@skill("programs")
def list_alias(w: Work) -> None:
    a, b = w.two(("xs", "items", "data", "row", "vals", "ys"))
    n, m, new, sliced = w.num(1, 9), w.num(1, 9), w.num(1, 9), w.pick("", "[:]")
    show_program(w, f"{a} = [{n}, {m}]", f"{b} = {a}{sliced}", f"{b}.append({new})", f"print(sum({a}))")
    w.step(f"At first {a} is #.", [n, m])
    same, copy = (
        (f"{b} is the same list as {a}, so {a} is now #.", [n, m, new]),
        (f"{b} is a copy, so {a} stays #.", [n, m]),
    )
    right, myth = (copy, same) if sliced else (same, copy)
    values = w.step(*right, myth=myth)
    total = values[0]
    for value in values[1:]:
        total = w.calc("Adding up,|The sum so far is", total, "+", value)
    w.answer(RESULT, total)


@skill("programs")
def early_return(w: Work) -> None:
    f, x, s = w.pick("f", "find", "scan", "probe"), w.pick("x", "v", "item"), sums(w)
    a, b, c = w.num(2, 6), w.num(1, 9), w.num(7, 9)
    limit = w.pick(a, a + b)
    show_program(
        w,
        f"def {f}(values):",
        f"    {s} = 0",
        f"    for {x} in values:",
        f"        {s} += {x}",
        f"        if {s} > {limit}:",
        f"            return {s}",
        f"    return {s}",
        f"print({f}([{a}, {b}, {c}]))",
    )
    first = w.calc(f"With the first {x}, {s} is", 0, "+", a)
    second = w.calc(f"With the second {x}, {s} is", first, "+", b)
    goes_on = (f"The loop goes on to the third {x}, so {s} = {second} + {c} = #.", second + c)
    returns = ("The limit is passed, so the function returns # at once.", second)
    right, myth = (returns, goes_on) if second > limit else (goes_on, returns)
    w.answer(RESULT, w.step(*right, myth=myth))


@skill("programs")
def while_countdown(w: Work) -> None:
    n, s, start, down = w.pick("n", "m", "left", "todo"), sums(w), w.num(6, 12), w.num(2, 4)
    show_program(
        w, f"{n} = {start}", f"{s} = 0", f"while {n} > 0:", f"    {n} -= {down}", f"    {s} += 1", f"print({s})"
    )
    left = w.step(f"At first {n} = #.", start)
    count = 0
    while left > 0 and count < 12:
        left = w.calc(f"Round {count + 1}: {n} =", left, "-", down)
        count += 1
    myth = (f"The last round fell below zero and does not count, so {s} = #.", count - 1)
    w.answer(RESULT, w.step(f"The loop ran # times, so {s} = #.", count, myth=myth if left < 0 else None))


@skill("programs")
def slice_sum(w: Work) -> None:
    xs, values, stop = lists(w), [w.num(1, 9) for _ in range(5)], w.num(2, 3)
    show_program(w, f"{xs} = {values}", f"print(sum({xs}[1:{stop}]) + {xs}[0])")
    w.step(f"The list {xs} is #.", values)
    part = w.step(
        "The slice is #.", values[1:stop], myth=(f"The slice goes from 1 to {stop}, which is #.", values[1 : stop + 1])
    )
    total = values[0]
    for value in part:
        total = w.calc("Adding gives|Next,", total, "+", value)
    w.answer(RESULT, total)


@skill("programs")
def swap_in_two_lines(w: Work) -> None:
    a, b = w.two(("a", "b", "x", "y", "p", "q"))
    n, m = w.num(1, 9), w.num(11, 19)
    show_program(w, f"{a} = {n}", f"{b} = {m}", f"{a} = {b}", f"{b} = {a}", f"print({a} + {b})")
    first = w.step(f"After the third line {a} = #.", m)
    myth = (f"The two lines swap the values, so {b} = #.", n)
    second = w.step(f"The fourth line copies it back, so {b} = #.", first, myth=myth)
    w.answer(RESULT, w.calc("The sum is", first, "+", second))


@skill("programs")
def elif_chain(w: Work) -> None:
    x, s, value, one, two = w.pick("x", "n", "age", "score"), sums(w), w.num(12, 19), w.num(1, 9), w.num(1, 9)
    test = w.pick("elif", "if")
    show_program(
        w,
        f"{x} = {value}",
        f"{s} = 10",
        f"if {x} > 5:",
        f"    {s} += {one}",
        f"{test} {x} > 10:",
        f"    {s} += {two}",
        f"print({s})",
    )
    w.step(f"Here {x} = #, so the first test holds.", value)
    first = w.calc(f"So {s} =", 10, "+", one)
    both, skips = (
        (f"The second test holds too, so {s} = {first} + {two} = #.", first + two),
        (f"The other branch is skipped, so {s} stays #.", first),
    )
    right, myth = (both, skips) if test == "if" else (skips, both)
    w.answer(RESULT, w.step(*right, myth=myth))


@skill("programs")
def nested_loops(w: Work) -> None:
    i, (n, m), s, step = loops(w), (w.num(3, 6), w.num(3, 6)), sums(w), w.num(1, 3)
    show_program(
        w, f"{s} = 0", f"for {i} in range({n}):", f"    for _ in range({m}):", f"        {s} += {step}", f"print({s})"
    )
    w.step("The outer loop runs # times.", n)
    w.step("The inner loop runs # times.", m)
    myth = (f"Both loops run {n} + {m} = # times.", n + m)
    rounds = w.step(f"The body runs {n} * {m} = # times.", n * m, myth=myth)
    w.answer(RESULT, w.calc(f"So {s} =", rounds, "*", step))


@skill("programs")
def floor_of_negative(w: Work) -> None:
    n, d, b, add = w.num(5, 19), w.pick(2, 3, 4), w.pick("a", "b", "q", "r", "res"), w.num(1, 9)
    n += n % d == 0
    show_program(w, f"{b} = -{n} // {d}", f"print({b} + {add})")
    w.step("The exact quotient lies below -#.", n // d)
    myth = (f"The fraction is cut off, so {b} = -{n} // {d} = #.", -(n // d))
    floor = w.step(f"Floor division rounds down, so {b} = -{n} // {d} = #.", -n // d, myth=myth)
    w.answer(RESULT, w.calc("The sum is", floor, "+", add))


@skill("programs")
def power_chain(w: Work) -> None:
    b, c, v, add = w.pick(2, 3), w.pick(2, 3), w.pick("a", "p", "v", "big", "val"), w.num(1, 9)
    show_program(w, f"{v} = 2 ** {b} ** {c}", f"print({v} + {add})")
    myth = (f"From the left, 2 ** {b} comes first, so the exponent in all is {b} * {c} = #.", b * c)
    top = w.step(f"Powers group from the right, so the exponent is {b} ** {c} = #.", b**c, myth=myth)
    power = w.step(f"Then {v} = 2 ** {top} = #.", 2 ** min(abs(int(top)), 40))
    w.answer(RESULT, w.calc("The sum is", power, "+", add))


@skill("programs")
def default_list(w: Work) -> None:
    f, xs, a, b = w.pick("add", "put", "keep", "note"), lists(w), w.num(1, 9), w.num(1, 9)
    show_program(
        w, f"def {f}(v, {xs}=[]):", f"    {xs}.append(v)", f"    return {xs}", f"{f}({a})", f"print(sum({f}({b})))"
    )
    first = w.step("The first call returns #.", [a])
    myth = ("The second call starts with a fresh list and returns #.", [b])
    second = w.step("The default list is kept between calls, so the second call returns #.", [*first, b], myth=myth)
    total = 0
    for value in second:
        total = w.calc("Adding up,", total, "+", value)
    w.answer(RESULT, total)


@skill("programs")
def local_scope(w: Work) -> None:
    v, f, a, b, c = (
        w.pick("x", "n", "count", "level"),
        w.pick("f", "change", "update", "reset"),
        w.num(1, 9),
        w.num(11, 19),
        w.num(1, 9),
    )
    shared = w.pick(True, False)
    show_program(
        w, f"{v} = {a}", f"def {f}():", *[f"    global {v}"] * shared, f"    {v} = {b}", f"{f}()", f"print({v} + {c})"
    )
    w.step(f"At first {v} = #.", a)
    w.step(f"Inside {f} a name {v} is set to #.", b)
    changes, keeps = (
        (f"The call changes {v}, so now {v} = #.", b),
        (f"That name is local, so outside still {v} = #.", a),
    )
    right, myth = (changes, keeps) if shared else (keeps, changes)
    value = w.step(*right, myth=myth)
    w.answer(RESULT, w.calc("The sum is", value, "+", c))


@skill("programs")
def modulo_loop(w: Work) -> None:
    s, i, n, d = sums(w), loops(w), w.num(5, 8), w.num(2, 3)
    show_program(
        w, f"{s} = 0", f"for {i} in range(1, {n}):", f"    if {i} % {d} == 0:", f"        {s} += {i}", f"print({s})"
    )
    value = w.step(f"At first {s} = #.", 0)
    last = w.step(f"The last {i} is #.", n - 1, myth=(f"The loop ends with {i} = #.", n))
    for k in range(d, min(int(last), 9) + 1, d):
        value = w.calc(f"{i} = {k} is divisible by {d}, so {s} =", value, "+", k)
    w.answer(RESULT, value)


@skill("programs")
def text_plus(w: Work) -> None:
    a, b = w.two(("a", "b", "x", "y", "p", "q"))
    n, m = w.num(1, 9), w.num(1, 9)
    show_program(w, f'{a} = "{n}"', f'{b} = "{m}"', f"print(len({a} + {b}) + int({a}))")
    myth = (f"{a} + {b} is {n} + {m} = {n + m}, of length #.", len(str(n + m)))
    length = w.step(f"Both are text, so {a} + {b} is {n}{m}, of length #.", 2, myth=myth)
    w.answer(RESULT, w.calc("The sum is", length, "+", n))


@skill("programs")
def running_maximum(w: Work) -> None:
    best, x, values = (
        w.pick("best", "top", "high", "peak"),
        w.pick("x", "v", "item"),
        [w.num(1, 19) for _ in range(w.pick(3, 4, 5, 6, 10, 14))],
    )
    show_program(
        w,
        f"{best} = 0",
        f"for {x} in {values}:",
        f"    if {x} > {best}:",
        f"        {best} = {x}",
        f"print({best} * 2)",
    )
    value = 0
    for item in values:
        value = w.step(f"{x} = {item}: now {best} = #.", max(int(value), item))
    w.answer(RESULT, w.calc("Twice that is", value, "*", 2))


@skill("programs")
def recursion(w: Work) -> None:
    f, n, d, base = (
        w.pick("f", "go", "climb", "fold", "dig", "step"),
        w.pick(3, 4, 5, 6, 9, 12),
        w.num(2, 5),
        w.num(1, 9),
    )
    show_program(
        w,
        f"def {f}(n):",
        "    if n == 0:",
        f"        return {base}",
        f"    return {f}(n - 1) + {d}",
        f"print({f}({n}))",
    )
    value = w.step(f"{f}(0) is #.", base, myth=(f"{f}(0) is #, the number itself.", 0))
    for k in range(1, n + 1):
        value = w.calc(f"{f}({k}) is", value, "+", d)
    w.answer(RESULT, value)


@skill("programs")
def bankers_rounding(w: Work) -> None:
    n, m, v = w.pick(0, 2, 4, 6, 8), w.num(1, 9), w.pick("a", "r", "v", "near", "val")
    show_program(w, f"{v} = round({n}.5)", f"print({v} + {m})")
    w.step(f"{n}.5 lies between {n} and #.", n + 1)
    near = w.step(f"Halves go to the even number, so {v} = #.", n, myth=(f"Halves are rounded up, so {v} = #.", n + 1))
    w.answer(RESULT, w.calc("The sum is", near, "+", m))


@skill("programs")
def zero_based_index(w: Work) -> None:
    xs, values, i, m = lists(w), [w.num(1, 19) for _ in range(5)], w.num(1, 3), w.num(2, 5)
    hit = w.pick("hit", "got", "v")
    show_program(w, f"{xs} = {values}", f"{hit} = {xs}[{i}]", f"print({hit} * {m})")
    w.step(f"The list {xs} has # elements.", len(values))
    picked = w.step(
        f"Counting from zero, {xs}[{i}] is #.", values[i], myth=(f"Element number {i} of {xs} is #.", values[i - 1])
    )
    w.answer(RESULT, w.calc("The product is", picked, "*", m))
