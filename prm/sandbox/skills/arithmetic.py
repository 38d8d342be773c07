"""Word problems: everyday quantities, percentages, rates, and common misconceptions about them."""

from fractions import Fraction

from prm.sandbox.work import Work, skill

TOTAL = "The answer is #.|So the answer is #.|Therefore the answer is #."


@skill("math")
def shopping_total(w: Work) -> None:
    who, (one, two) = w.name(), w.two(("apples", "pens", "books", "cups", "stamps", "cakes"))
    n, p, m, q, bag = w.num(2, 9), w.num(2, 9), w.num(2, 9), w.num(2, 9), w.num(1, 9)
    w.ask(
        f"{who} buys {n} {one} at {p} euros each, {m} {two} at {q} euros each and a bag for {bag} euros.",
        "What is the total?|How much is that?",
    )
    first = w.calc(f"The {one} cost|For the {one} {who} pays", n, "*", p, tail=" euros")
    second = w.calc(f"The {two} cost|For the {two} {who} pays", m, "*", q, tail=" euros")
    w.answer(TOTAL, w.calc("Together that is|Adding up gives", first, "+", second, "+", bag, tail=" euros"))


@skill("math")
def average_speed(w: Work) -> None:
    who, place = w.name(), w.pick("the lake", "the village", "the coast", "the farm", "the castle")
    distance = w.pick(12, 24, 36, 60)
    fast, slow = w.pick((12, 4), (12, 6), (6, 4), (12, 3), (6, 3))
    w.ask(
        f"{who} cycles {distance} km to {place} at {fast} km/h and comes back at {slow} km/h.",
        "What is the average speed of the whole trip?|Find the average speed there and back.",
    )
    there = w.calc("The way there takes", distance, "/", fast, tail=" hours")
    back = w.calc("The way back takes", distance, "/", slow, tail=" hours")
    hours = w.calc("The whole trip takes", there, "+", back, tail=" hours")
    way = w.calc("The whole distance is", 2, "*", distance, tail=" km")
    myth = ("The average speed is the mean of the two speeds,", "(", fast, "+", slow, ")", "/", 2)
    w.answer(TOTAL, w.calc("The average speed is distance over time,", way, "/", hours, tail=" km/h", myth=myth))


@skill("math")
def change_from_bill(w: Work) -> None:
    who, thing = w.name(), w.thing()
    n, p, bill = w.num(2, 6), w.num(2, 8), w.pick(50, 60, 80)
    w.ask(
        f"{who} buys {n} {thing} for {p} euros each and pays with {bill} euros.",
        "How much change is due?|Find the change.",
    )
    w.step(
        "We have # euros to start from.|The bill is # euros.",
        bill,
        wrong=[("copied_number", "The bill is # euros.", bill + 10)],
    )
    cost = w.calc(f"The {thing} cost", n, "*", p, tail=" euros")
    w.answer(TOTAL, w.calc("The change is|What is left is", bill, "-", cost, tail=" euros"))


@skill("math")
def percent_up_down(w: Work) -> None:
    thing, shop = (
        w.pick("coat", "bike", "phone", "sofa", "camera", "desk"),
        w.pick("shop", "market", "store", "online sale"),
    )
    price, percent = w.pick(100, 200, 300, 400), w.pick(10, 20, 50)
    w.ask(
        f"The price of a {thing} in the {shop} is {price} euros. "
        f"It rises by {percent} percent and then falls by {percent} percent.",
        "What is the price now?|Find the final price.",
    )
    rise = w.calc(f"{percent} percent of the price is", price, "*", percent, "/", 100)
    high = w.calc("After the rise the price is", price, "+", rise)
    fall = w.calc(f"{percent} percent of the new price is", high, "*", percent, "/", 100)
    myth = ("The rise and the fall are the same percentage, so they cancel and the price is back at #.", price)
    w.answer(TOTAL, w.step(f"After the fall the price is {high} - {w.show(fall)} = #.", high - fall, myth=myth))


@skill("math")
def fraction_sum(w: Work) -> None:
    who, food = w.name(), w.pick("pizza", "cake", "melon", "pie", "loaf")
    a, b = w.two((2, 3, 4, 5, 6))
    w.latex = True
    w.ask(
        rf"{who} eats $\frac{{1}}{{{a}}}$ of a {food} and then $\frac{{1}}{{{b}}}$ of it.",
        "Which part is eaten?|How much is that in all?",
    )
    common = w.calc("A common denominator is", a, "*", b)
    left = w.calc("The first part has the numerator", common, "/", a)
    right = w.calc("The second part has the numerator", common, "/", b)
    top = w.calc("The numerators add to", left, "+", right)
    myth = (f"Adding tops and bottoms gives $\\frac{{1 + 1}}{{{a} + {b}}} = #$.", Fraction(2, a + b))
    total = w.step(
        f"The sum is $\\frac{{{w.show(top)}}}{{{w.show(common)}}} = #$.", Fraction(top) / Fraction(common), myth=myth
    )
    w.answer("The answer is $#$.|So the answer is $#$.", total)


@skill("math")
def order_of_operations(w: Work) -> None:
    a, b, c, d = w.num(2, 9), w.num(2, 9), w.num(2, 9), w.num(1, 9)
    w.latex = w.pick(True, False)
    mark = "$" if w.latex else ""
    verb = w.pick("Compute", "Work out", "Evaluate", "Calculate", "Find")
    term = w.expression((a, "+", b, "*", c, "-", d))
    manner = w.pick(
        ".", " exactly.", " step by step.", " without a calculator.", " by hand.", " in your head.", " with care."
    )
    w.ask(f"{verb} {mark}{term}{mark}{manner}")
    product = w.calc("Multiplication comes first,|First the product,", b, "*", c)
    myth = (f"From left to right, {a} + {b} comes first and then times {c}, which gives #.", (a + b) * c)
    partial = w.step(f"Then {a} + {product} = #.|Adding {a} gives {a} + {product} = #.", a + product, myth=myth)
    w.answer(TOTAL, w.calc("Last,|Finally,", partial, "-", d))


@skill("math")
def fence_posts(w: Work) -> None:
    post, line = w.pick("posts", "trees", "lamps", "flags"), w.pick("road", "path", "fence", "river bank", "street")
    gap, n = w.num(2, 9), w.num(3, 12)
    w.ask(
        f"Along a {line} of {gap * n} m stand {post}, one every {gap} m, with one at each end.",
        f"How many {post} are there?|Count the {post}.",
    )
    w.step(f"The {line} is # m long.", gap * n, wrong=[("copied_number", f"The {line} is # m long.", gap * n + gap)])
    gaps = w.calc("The number of gaps is|Dividing the length into gaps gives", gap * n, "/", gap)
    myth = (f"Each gap has one of the {post}, so there are # {post}.", gaps)
    w.answer(TOTAL, w.step(f"There is one more at the end, so there are {gaps} + 1 = # {post}.", gaps + 1, myth=myth))


@skill("math")
def mean_of_groups(w: Work) -> None:
    subject, (one, two) = (
        w.pick("maths", "history", "music", "biology"),
        w.two(("morning", "evening", "first", "second", "north", "south")),
    )
    n, m, a, b = w.pick(2, 4, 6), w.pick(8, 10, 12), w.num(3, 9), w.num(3, 9)
    w.ask(
        f"In {subject} the {one} group of {n} students has a mean of {a} points, "
        f"the {two} group of {m} students a mean of {b} points.",
        "What is the mean of all students?|Find the overall mean.",
    )
    first = w.calc(f"The {one} group has in all", n, "*", a, tail=" points")
    second = w.calc(f"The {two} group has in all", m, "*", b, tail=" points")
    points = w.calc("All points together are", first, "+", second)
    people = w.calc("All students together are", n, "+", m)
    myth = ("The overall mean is the mean of the two means,", "(", a, "+", b, ")", "/", 2)
    w.answer(TOTAL, w.calc("The overall mean is", points, "/", people, myth=myth))


@skill("math")
def successive_discounts(w: Work) -> None:
    thing, who = w.pick("coat", "bike", "phone", "sofa", "camera", "desk"), w.name()
    price, one, two = w.pick(100, 200, 400), w.pick(10, 20), w.pick(10, 50)
    w.ask(
        f"{who} buys a {thing} of {price} euros with {one} percent off, and then {two} percent off the reduced price.",
        "What is paid?|Find the price.",
    )
    off = w.calc("The first discount is", price, "*", one, "/", 100)
    reduced = w.calc("The reduced price is", price, "-", off)
    myth = (f"The discounts add up to {one + two} percent, so the price is #.", price * (100 - one - two) // 100)
    again = w.calc("The second discount is", reduced, "*", two, "/", 100)
    w.answer(TOTAL, w.step(f"The price paid is {w.show(reduced)} - {w.show(again)} = #.", reduced - again, myth=myth))


@skill("math")
def buses_needed(w: Work) -> None:
    who, ride = w.pick("pupils", "guests", "fans", "hikers"), w.pick("buses", "boats", "vans", "cabins", "minibuses")
    seats, full, rest = w.num(4, 9), w.num(3, 9), w.num(1, 3)
    people = seats * full + rest
    w.ask(
        f"{people} {who} travel in {ride} of {seats} seats.", f"How many {ride} are needed?|Find the number of {ride}."
    )
    n = w.step(f"{people} divided by {seats} is # with a remainder.", full)
    filled = w.calc(f"The full {ride} take", n, "*", seats, tail=f" {who}")
    w.calc("The remainder is", people, "-", filled)
    myth = (f"We round down, so # {ride} are needed.", n)
    w.answer(TOTAL, w.step(f"The rest need one more, so {n} + 1 = # {ride} are needed.", n + 1, myth=myth))


@skill("math")
def square_units(w: Work) -> None:
    what, whose = w.pick("table", "garden bed", "board", "carpet", "window"), w.name()
    unit = w.pick(("metres", "centimetres", 100), ("feet", "inches", 12))
    a, b = w.num(2, 9), w.num(2, 9)
    w.ask(
        f"The {what} of {whose} is {a} by {b} {unit[0]}.",
        f"What is its area in square {unit[1]}?|Give its area in square {unit[1]}.",
    )
    area = w.calc(f"In square {unit[0]} the area is", a, "*", b)
    side = unit[2]
    myth = (f"One of the {unit[0]} is {side} {unit[1]}, so one square is # square {unit[1]}.", side)
    square = w.step(f"One square has {side} * {side} = # square {unit[1]}.", side * side, myth=myth)
    w.answer(TOTAL, w.calc("So the area is", area, "*", square))


@skill("math")
def share_by_ratio(w: Work) -> None:
    (one, two), what = (
        w.two(("Ada", "Ben", "Chloe", "Dan", "Eva", "Finn")),
        w.pick("euros", "points", "shells", "coins"),
    )
    a, b, unit = w.num(2, 5), w.num(1, 4), w.num(2, 9)
    total = (a + b) * unit
    w.ask(
        f"{one} and {two} share {total} {what} in the ratio {a}:{b}.",
        f"How many does {one} get?|What is the share of {one}?",
    )
    myth = (f"The ratio starts with {a}, so there are # parts.", a)
    parts = w.step(f"There are {a} + {b} = # parts.", a + b, myth=myth)
    part = w.calc("One part is", total, "/", parts)
    w.answer(TOTAL, w.calc(f"{one} gets", a, "*", part, tail=f" {what}"))


@skill("math")
def working_together(w: Work) -> None:
    job, (one, two) = (
        w.pick("fill the pool", "paint the wall", "mow the field", "print the report"),
        w.two(("A", "B", "C", "D", "E")),
    )
    a, b = w.pick((3, 6), (4, 12), (6, 12), (2, 6), (10, 15))
    w.ask(
        f"Alone, {one} can {job} in {a} hours and {two} in {b} hours.",
        "How long do they take together?|How many hours do both need?",
    )
    first = w.step(f"In one hour {one} does # of the job.", Fraction(1, a))
    second = w.step(f"In one hour {two} does # of the job.", Fraction(1, b))
    rate = w.calc("Together they do in one hour", first, "+", second)
    myth = ("Together they need the average of the two times,", "(", a, "+", b, ")", "/", 2)
    w.answer(TOTAL, w.calc("So the time is", 1, "/", "(", rate, ")", tail=" hours", myth=myth))


@skill("math")
def time_elapsed(w: Work) -> None:
    event, who = w.pick("film", "lesson", "flight", "match", "concert"), w.name()
    h, m, length = w.num(1, 9), w.pick(40, 45, 50), w.pick(25, 30, 35)
    w.ask(
        f"{who} goes to a {event} that starts at {h}:{m} and lasts {length} minutes.",
        "How many minutes past the hour does it end?|At which minute of the hour does it end?",
    )
    total = w.calc("The minutes add to", m, "+", length)
    myth = ("That stays under 100, so the minute is #.", total)
    past = w.step(f"An hour has 60 minutes, so {total} - 60 = # minutes past.", total - 60, myth=myth)
    w.answer(TOTAL, past)


@skill("math")
def gambler(w: Work) -> None:
    who, thing = w.name(), w.pick(("coin", "heads", 2), ("die", "a six", 6), ("wheel of ten fields", "a seven", 10))
    streak = w.num(3, 6)
    w.ask(
        f"{who} uses a fair {thing[0]} and has missed {thing[1]} {streak} times.",
        f"What is the chance of {thing[1]} next?|How likely is {thing[1]} on the next try?",
    )
    sides = w.step("There are # equal outcomes.|We count # outcomes, all alike.", thing[2])
    w.say("The tries do not depend on each other.|Each try stands alone.")
    myth = (f"After {streak} misses it is due, so the chance rises to #.", Fraction(streak, streak + 1))
    w.answer(TOTAL, w.step("The chance is still #.", Fraction(1, sides), myth=myth))


@skill("math")
def scaled_area(w: Work) -> None:
    shape, use = w.pick("square", "photo", "map", "field", "screen"), w.pick("paint", "cover", "print", "clean")
    k, cost = w.num(2, 5), w.num(2, 9)
    w.ask(
        f"It costs {cost} euros to {use} a {shape}. Both sides are made {k} times as long.",
        "What does it cost now?|Find the new cost.",
    )
    myth = (f"The {shape} becomes {k} times as large, so the factor is #.", k)
    factor = w.step(f"The area grows by {k} * {k} = #.", k * k, myth=myth)
    w.answer(TOTAL, w.calc("The cost is now", cost, "*", factor, tail=" euros"))


@skill("math")
def compare_decimals(w: Work) -> None:
    who, other = w.two(("Ada", "Ben", "Chloe", "Dan", "Eva", "Finn"))
    what = w.pick("jumps", "throws", "pours", "weighs out")
    long, short = w.num(11, 49), w.num(5, 9)
    w.ask(f"{who} {what} 0.{long} and {other} {what} 0.{short}.", "Who has more?|Whose number is larger?")
    tenths = w.step(f"The number of {who} has # tenths.", long // 10)
    w.step(f"The number of {other} has # tenths.", short)
    myth = (f"{long} is more than {short}, so # has more.", who)
    more = w.step(f"{tenths} tenths are fewer, so # has more.", other, myth=myth)
    w.answer(TOTAL, more)


@skill("math")
def ages(w: Work) -> None:
    one, two = w.two(("Ada", "Ben", "Chloe", "Dan", "Eva", "Finn"))
    young, factor, years = w.num(3, 9), w.num(2, 4), w.num(2, 9)
    w.ask(
        f"{one} is {young} and {two} is {factor} times as old.",
        f"How old are both together in {years} years?|In {years} years, what is the sum of their ages?",
    )
    old = w.calc(f"{two} is now", factor, "*", young)
    both = w.calc("Now they are together", young, "+", old)
    myth = (f"In {years} years the sum is {both} + {years} = #.", both + years)
    w.answer(
        TOTAL, w.step(f"Both grow by {years}, so the sum is {both} + {2 * years} = #.", both + 2 * years, myth=myth)
    )
