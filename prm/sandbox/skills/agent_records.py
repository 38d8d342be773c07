"""Agent runs on records: a plan, tool calls, what the tools answered, and what agents read into it."""

from prm.sandbox.work import Work, skill

ANSWER = "The answer is #.|Done: #.|Result: #."


def pose_task(w: Work, *wordings: str, tools: str) -> None:
    """Poses a task for an agent who has tools."""
    who = w.pick("", "A customer asks: ", "From the inbox: ", "A colleague asks: ", "Ticket: ", "The manager writes: ")
    w.problem = f"{who}{w.pick(*wordings)}\nTools: {tools}"


@skill("agents")
def order_total(w: Work) -> None:
    one, two = w.two(("lamp", "desk", "chair", "vase", "clock", "shelf"))
    prices = {one: w.num(2, 9), two: w.num(11, 29)}
    n, missing = w.num(2, 5), 7
    pose_task(
        w,
        f"What do {n} of the {one} and one {two} cost?",
        f"Please quote {n} of the {one} with one {two}.",
        tools="get_price(item)",
    )
    w.say("I look up both prices and add them up.|First the prices, then the sum.", "plan")
    asked = w.call('get_price("#")', one, wrong=[("copied_number", 'get_price("#")', two)])
    w.observe(f'{{"price": {prices.get(asked, missing)}}}')
    cost = w.calc(f"For the {one} that is", n, "*", prices.get(asked, missing))
    w.call('get_price("#")', two)
    w.observe(f'{{"price": {prices[two]}}}')
    w.answer(ANSWER, w.calc("In all", cost, "+", prices[two]), kind="answer")


@skill("agents")
def unpaid_invoices(w: Work) -> None:
    client, (a, b, c) = (
        w.pick("Nordic", "Acme", "Lumen", "Orbit", "Delta", "Harbor"),
        (w.num(2, 9), w.num(11, 29), w.num(2, 9)),
    )
    pose_task(
        w, f"How much does {client} still owe?", f"Find the open amount of {client}.", tools="list_invoices(client)"
    )
    w.say("I list the invoices and add those that are not paid.", "plan")
    w.call('list_invoices("#")', client)
    w.observe(f"paid: {c}, open: {a}, pending: {b}")
    w.step("The open invoice is over #.", a, wrong=[("copied_number", "The open invoice is over #.", c)])
    myth = ("A pending invoice is as good as paid, so the amount owed is #.", a)
    owed = w.step(f"Pending money has not arrived, so the amount owed is {a} + {b} = #.", a + b, myth=myth)
    w.answer(ANSWER, owed, kind="answer")


@skill("agents")
def paged_search(w: Work) -> None:
    what, city = (
        w.pick("orders", "users", "tickets", "files", "photos"),
        w.pick("Oslo", "Bonn", "Lyon", "Turin", "Cork"),
    )
    first, second = w.num(11, 39), w.num(2, 9)
    pose_task(w, f"How many {what} do we have in {city}?", f"Count the {what} of {city}.", tools="search(city, page)")
    w.say("I search and count the hits.|Count the hits of the search.", "plan")
    w.call('search("#", page=1)', city)
    w.observe(f"{first} hits here, page 1 of 2")
    total = w.step(f"So far we have # {what}.", first)
    seen = w.step(
        "Of 2 pages we have read #, so we go on.", 1, myth=("The search gave its hits, so with page # we are done.", 2)
    )
    if seen == 1:
        w.say(f'search("{city}", page=2)', "tool_call")
        w.observe(f"{second} hits here, page 2 of 2")
        total = w.calc("With the second page we have", total, "+", second, tail=f" {what}")
    w.answer(ANSWER, total, kind="answer")


@skill("agents")
def missing_record(w: Work) -> None:
    who, what = (
        w.pick("Kim", "Lee", "Sam", "Ola", "Pat", "Noor"),
        w.pick("leave days", "overtime hours", "training credits"),
    )
    old, more = w.num(5, 19), w.num(2, 9)
    pose_task(
        w, f"How many {what} does {who} have?", f"Report the {what} of {who}.", tools="current(name), archive(name)"
    )
    w.call('current("#")', who)
    w.observe("error 404: no record")
    known = w.step(
        "The lookup failed, which settles nothing; the record may be in the #.",
        "archive",
        myth=("No record means that there are #.", "none"),
    )
    if known == "archive":
        w.say(f'archive("{who}")', "tool_call")
        w.observe(f"{old} carried over, {more} new")
        w.answer(ANSWER, w.calc("Together that is", old, "+", more), kind="answer")
    else:
        w.answer(ANSWER, 0, kind="answer")


@skill("agents")
def first_hit(w: Work) -> None:
    place, what = (
        w.pick("Springfield", "Newport", "Salem", "Milton", "Ashland"),
        w.pick("population", "area", "rank", "code"),
    )
    wrong, right, add = w.num(11, 49), w.num(51, 89), w.num(1, 9)
    pose_task(
        w,
        f"Give the {what} of {place} in Oregon plus {add}.",
        f"Add {add} to the {what} of {place}, Oregon.",
        tools="search(text)",
    )
    w.say("I search for the place and take the number.", "plan")
    w.call('search("#")', place, wrong=[("copied_number", 'search("#")', place[:-1])])
    one, two = w.pick(("Ohio", "Oregon"), ("Oregon", "Ohio"))
    w.observe(f"1. {place}, {one}: {wrong}; 2. {place}, {two}: {right}")
    second, first = (
        ("The second hit is the one we want, with #.", right),
        ("The first hit is the best match, with #.", wrong),
    )
    chosen, myth = (second, first) if two == "Oregon" else (first, second)
    value = w.step(*chosen, myth=myth)
    w.answer(ANSWER, w.calc("Adding,", value, "+", add), kind="answer")


@skill("agents")
def skipped_tests(w: Work) -> None:
    package, branch = (
        w.pick("parser", "billing", "search", "auth", "mailer"),
        w.pick("main", "dev", "hotfix", "release"),
    )
    passed, skipped, failed = w.num(11, 39), w.num(2, 9), w.num(1, 9)
    pose_task(
        w,
        f"How many tests of {package} on {branch} did not pass?",
        f"On {branch}, count the tests of {package} without a pass.",
        tools="run_tests(package)",
    )
    w.call('run_tests("#")', package)
    w.observe(f"exit 0; {passed} passed, {skipped} skipped, {failed} xfailed")
    w.step("Passed were # tests.", passed)
    bad = w.step(
        "Marked as failing were # tests.",
        failed,
        wrong=[("copied_number", "Marked as failing were # tests.", skipped + failed + 1)],
    )
    myth = ("Skipped tests are fine, so # did not pass.", bad)
    w.answer(
        ANSWER,
        w.step(f"Skipped tests did not pass either, so {bad} + {skipped} = #.", bad + skipped, myth=myth),
        kind="answer",
    )


@skill("agents")
def header_line(w: Work) -> None:
    name, what = w.pick("sales", "guests", "parts", "routes", "plants"), w.pick("records", "entries", "rows of data")
    lines, files = w.num(11, 39), w.num(3, 4)
    pose_task(
        w,
        f"How many {what} do the {files} files of {name} hold?",
        f"Count the {what} in {files} {name} files.",
        tools="shell(command)",
    )
    w.call('shell("wc -l #.csv")', name)
    header = w.pick(True, False)
    w.observe(f"{lines} lines each, the first is: {'id,name,value' if header else '1,oak,7'}")
    n = w.step("Every file has # lines.", lines)
    less = (f"The first line is a header, so each file has {n} - 1 = # {what}.", n - 1)
    whole = (f"Every line is one of the {what}, so each file has #.", n)
    right, myth = (less, whole) if header else (whole, less)
    each = w.step(*right, myth=myth)
    w.answer(ANSWER, w.calc("In all", *[each, "+"] * (files - 1), each), kind="answer")


@skill("agents")
def stale_cache(w: Work) -> None:
    item, shop = w.pick("bolts", "cables", "filters", "valves", "tiles"), w.pick("north", "south", "harbor", "airport")
    old, new, need = w.num(31, 49), w.num(11, 29), w.num(2, 9)
    pose_task(
        w,
        f"How many {item} are left in the {shop} store after taking {need}?",
        f"After {need} {item} leave the {shop} store, how many remain?",
        tools="stock(item), recount(item)",
    )
    w.call('stock("#")', item)
    age = w.pick("9 days", "1 minute")
    w.observe(f"{old} (cached {age} ago)")
    doubt, trust = (
        ("The number may be old, so the stock must be #.", "recounted"),
        ("The system has the number, so the stock is #.", "known"),
    )
    right, myth = (doubt, trust) if age == "9 days" else (trust, doubt)
    fresh = w.step(*right, myth=myth)
    if fresh == "recounted":
        w.say(f'recount("{item}")', "tool_call")
        w.observe(f"{new} (now)")
    w.answer(ANSWER, w.calc("What remains is", new if fresh == "recounted" else old, "-", need), kind="answer")
