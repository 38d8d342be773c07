"""Agent runs: a plan, tool calls, their results, and common misreadings of them."""

from prm.sandbox.work import Work, skill

ANSWER = "The answer is #.|Done: #.|Result: #."


def pose_task(w: Work, *wordings: str, tools: str) -> None:
    """Pose a task for an agent with tools."""
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


@skill("agents")
def unit_price(w: Work) -> None:
    what, shop = w.pick("cheese", "tea", "ham", "nuts", "coffee"), w.pick("Mira", "Bio Ost", "Tante Lu", "Campo")
    price, kilos = w.num(2, 6), w.num(2, 4)
    pose_task(
        w,
        f"What do {kilos} kg of {what} cost at {shop}?",
        f"At {shop}, price {kilos} kg of {what}.",
        tools="product(shop, name)",
    )
    w.say("I look the product up and multiply.", "plan")
    w.call('product("#", "' + what + '")', shop)
    unit = w.pick("100 g", "kg")
    w.observe(f'{{"price": {price}, "per": "{unit}"}}')
    w.step("The price shown is #.", price)
    dear, plain = (
        ("It is for 100 g, so a kilo costs #.", price * 10),
        ("The price is per kilo, so a kilo costs #.", price),
    )
    right, myth = (dear, plain) if unit == "100 g" else (plain, dear)
    kilo = w.step(*right, myth=myth)
    w.answer(ANSWER, w.calc("The cost is", kilo, "*", kilos), kind="answer")


@skill("agents")
def nights_booked(w: Work) -> None:
    city, month = w.pick("Rome", "Paris", "Vienna", "Porto", "Athens"), w.pick("May", "June", "July", "August")
    arrive, nights, rate = w.num(2, 15), w.num(3, 7), w.num(4, 9) * 10
    pose_task(
        w,
        f"What does the hotel in {city} cost in {month}?",
        f"Price my stay in {city} in {month}.",
        tools="booking(city), rate(city)",
    )
    w.call('booking("#")', city)
    w.observe(f"arrive {month} {arrive}, leave {month} {arrive + nights}")
    myth = (f"Both days count, so there are {arrive + nights} - {arrive} + 1 = # nights.", nights + 1)
    n = w.step(f"From arrival to departure there are {arrive + nights} - {arrive} = # nights.", nights, myth=myth)
    w.call('rate("#")', city)
    w.observe(f"{rate} a night")
    w.answer(ANSWER, w.calc("The stay costs", n, "*", rate), kind="answer")


@skill("agents")
def time_zone(w: Work) -> None:
    here, there = w.pick("Berlin", "Madrid", "Prague", "Warsaw"), w.pick("New York", "Boston", "Lima", "Toronto")
    hour, offset = w.num(12, 18), w.num(4, 7)
    pose_task(
        w,
        f"The call is at {hour} in {here}. When is it in {there}?",
        f"Which hour is it in {there} at {hour} in {here}?",
        tools="offset(city, city)",
    )
    w.say("I ask for the offset and convert the hour.", "plan")
    w.call(f'offset("{here}", "#")', there)
    side = w.pick("behind", "ahead of")
    w.observe(f"{there} is {offset} hours {side} {here}")
    gap = w.step("The gap is # hours.", offset)
    less, more = (
        ("We take the hours of the gap away,", hour, "-", gap),
        ("We add the hours of the gap,", hour, "+", gap),
    )
    right, myth = (less, more) if side == "behind" else (more, less)
    w.answer(ANSWER, w.calc(*right, myth=myth), kind="answer")


@skill("agents")
def currency(w: Work) -> None:
    money, what = w.pick("crowns", "dollars", "francs", "yen"), w.pick("hotel", "ticket", "dinner", "course", "rental")
    rate, euros = w.num(2, 9), w.num(3, 12)
    pose_task(
        w,
        f"The {what} costs {rate * euros} {money}. How many euros is that?",
        f"Convert the {what} bill of {rate * euros} {money} to euros.",
        tools="rate(currency)",
    )
    w.call('rate("#")', money)
    dear = w.pick(True, False)
    w.observe(f"1 euro = {rate} {money}" if dear else f"1 of the {money} = {rate} euros")
    per = w.step("The rate is #.", rate)
    amount = w.step(
        f"The bill is # {money}.",
        rate * euros,
        wrong=[("copied_number", f"The bill is # {money}.", rate * euros + rate)],
    )
    less, more = (
        ("To get euros we divide by the rate,", amount, "/", per),
        ("To convert we multiply by the rate,", amount, "*", per),
    )
    right, myth = (less, more) if dear else (more, less)
    w.answer(ANSWER, w.calc(*right, myth=myth), kind="answer")


@skill("agents")
def days_of_travel(w: Work) -> None:
    who, month = w.pick("Kim", "Lee", "Sam", "Ola", "Pat", "Noor"), w.pick("May", "June", "July", "August")
    start, length, daily = w.num(2, 15), w.num(2, 6), w.pick(10, 20, 30)
    pose_task(
        w,
        f"What allowance does {who} get for the trip in {month}?",
        f"Compute the {month} travel allowance of {who}.",
        tools="trip(name), policy()",
    )
    w.call('trip("#")', who)
    w.observe(f"{month} {start} to {month} {start + length}")
    w.call("#()", "policy", wrong=[("wrong_operation", "#()", "prices")])
    w.observe(f"{daily} for every day away, first and last included")
    myth = (f"The trip takes {start + length} - {start} = # days.", length)
    days = w.step(f"With first and last the trip takes {start + length} - {start} + 1 = # days.", length + 1, myth=myth)
    w.answer(ANSWER, w.calc("The allowance is", days, "*", daily), kind="answer")


@skill("agents")
def gross_or_net(w: Work) -> None:
    what, seller = w.pick("printer", "router", "monitor", "scanner", "tablet"), w.pick("Alto", "Bexi", "Corda", "Dano")
    net, tax, budget = w.pick(100, 200, 300), w.pick(10, 20), 500
    pose_task(
        w,
        f"The budget is {budget}. What is left after buying the {what} from {seller}?",
        f"From {budget}, subtract the {what} that {seller} sells.",
        tools="quote(seller, item)",
    )
    w.say("I ask for a quote and subtract what is to be paid.", "plan")
    w.call(f'quote("{seller}", "#")', what)
    form = w.pick("net", "gross")
    w.observe(f"{net} {form}, tax {tax} percent")
    w.step("The quote says #.", net)
    more, same = (
        ("The tax is still to be added, so we pay #.", net + net * tax // 100),
        ("The quote is what we pay, so we pay #.", net),
    )
    right, myth = (more, same) if form == "net" else (same, more)
    pay = w.step(*right, myth=myth)
    w.answer(ANSWER, w.calc("What is left is", budget, "-", pay), kind="answer")


@skill("agents")
def temperature_low(w: Work) -> None:
    city, crop = w.pick("Bergen", "Davos", "Quebec", "Tromso", "Kiruna"), w.pick("roses", "beans", "vines", "herbs")
    high, low, hardy = w.num(11, 19), w.num(1, 8), w.num(1, 5)
    pose_task(
        w,
        f"By how many degrees will the {crop} in {city} be above their limit of {hardy} at worst?",
        f"In {city}, how far above {hardy} degrees do the {crop} stay at worst?",
        tools="forecast(city)",
    )
    w.call('forecast("#")', city)
    w.observe(f"high {high}, low {low}")
    worst = w.step("What counts is the low, which is #.", low, myth=(f"The forecast for {city} is #.", high))
    w.answer(ANSWER, w.calc("The margin is", worst, "-", hardy), kind="answer")


@skill("agents")
def shared_calendar(w: Work) -> None:
    one, two = w.two(("Kim", "Lee", "Sam", "Ola", "Pat", "Noor"))
    a, b, length = w.num(9, 11), w.num(12, 15), w.num(1, 2)
    pose_task(
        w,
        f"When can {one} and {two} finish a meeting of {length} hours at the earliest?",
        f"Earliest end of a {length} hour meeting of {one} and {two}?",
        tools="free_from(name)",
    )
    w.say("I ask when each is free and take the later hour.", "plan")
    w.call('free_from("#")', one)
    w.observe(f"free from {a}")
    asked = w.call('free_from("#")', two, wrong=[("copied_number", 'free_from("#")', one)])
    other = b if asked == two else a
    w.observe(f"free from {other}")
    myth = ("The earliest start is the smaller hour, #.", min(a, other))
    start = w.step("Both are free from the later hour, #.", max(a, other), myth=myth)
    w.answer(ANSWER, w.calc("It ends at", start, "+", length), kind="answer")
