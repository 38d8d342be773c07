"""Agent runs on bookings, money and hours: tool calls whose answers must be applied the right way round."""

from prm.sandbox.skills.agent_records import ANSWER, pose_task
from prm.sandbox.work import Work, skill


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
