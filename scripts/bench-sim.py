"""Plays M/M/1 at 80 of 100 customers a second with somebody else's simulator, or
makes the table of scripts/bench-sim.sh.

    bench-sim.py play simpy|ciw|happysim CUSTOMERS
    bench-sim.py table LINES PAGE HOW

Play prints a line "peer customers/cpu-s VALUE", and the mean time in the system on stderr,
which has to be 50 ms: a peer that plays something else is not compared.
"""

import random
import statistics
import sys
import time

ARRIVALS, SERVICES = 80.0, 100.0


def play_simpy(customers):
    import simpy

    dice, took = random.Random(1), []

    def customer(env, server):
        came = env.now
        with server.request() as turn:
            yield turn
            yield env.timeout(dice.expovariate(SERVICES))
        took.append(env.now - came)

    def source(env, server):
        for _ in range(customers):
            yield env.timeout(dice.expovariate(ARRIVALS))
            env.process(customer(env, server))

    env = simpy.Environment()
    env.process(source(env, simpy.Resource(env, capacity=1)))
    began = time.process_time()
    env.run()
    return time.process_time() - began, took


def play_ciw(customers):
    import ciw

    ciw.seed(1)
    network = ciw.create_network(
        arrival_distributions=[ciw.dists.Exponential(rate=ARRIVALS)],
        service_distributions=[ciw.dists.Exponential(rate=SERVICES)],
        number_of_servers=[1],
    )
    simulation = ciw.Simulation(network)
    began = time.process_time()
    simulation.simulate_until_max_customers(customers)
    used = time.process_time() - began
    return used, [r.exit_date - r.arrival_date for r in simulation.get_all_records()]


def play_happysim(customers):
    from happysimulator import Instant, Server, Simulation, Sink, Source
    from happysimulator.distributions import ExponentialLatency

    sink = Sink()
    server = Server("server", service_time=ExponentialLatency(1 / SERVICES), downstream=sink)
    source = Source.poisson(rate=ARRIVALS, target=server)
    simulation = Simulation(sources=[source], entities=[server, sink], end_time=Instant.from_seconds(customers / ARRIVALS))
    began = time.process_time()
    simulation.run()
    return time.process_time() - began, sink.latencies_s


def play(peer, customers):
    used, took = globals()["play_" + peer](customers)
    mean = 1000 * sum(took) / len(took)
    print(f"{peer}: {len(took)} customers, {mean:.1f} ms in the system", file=sys.stderr)
    if not 42 <= mean <= 58:
        sys.exit(f"{peer} plays another queue than M/M/1 at .8, where it is 50 ms")
    print(f"{peer} customers/cpu-s {len(took) / used:.0f}")


PEERS = {"simpy": "SimPy", "ciw": "Ciw", "happysim": "happy-simulator"}
BEGIN, END = "<!-- speed -->\n", "<!-- /speed -->\n"


def read(lines):
    """Returns the median of every figure: {"plain events/cpu-s": ...}."""
    seen = {}
    for line in open(lines):
        words = line.split()
        if line.startswith("BenchmarkSpeed/"):
            name = words[0].split("/")[1].rsplit("-", 1)[0]
            pairs = zip(words[2::2], words[3::2])
        elif len(words) == 3 and words[0] in PEERS:
            name, pairs = words[0], [(words[2], words[1])]
        else:
            continue
        for value, unit in pairs:
            seen.setdefault(f"{name} {unit}", []).append(float(value))
    return {figure: statistics.median(values) for figure, values in seen.items()}


def table(lines, page, how):
    of = read(lines)
    events, customers = " events/cpu-s", " customers/cpu-s"
    plain, every = of["plain" + customers], of["every-policy" + events]
    text = "| | customers a CPU-second | events a CPU-second | as many customers here | as many events here, with every policy on |\n| --- | --- | --- | --- | --- |\n"
    text += f"| M/M/1, here | {plain / 1e6:.2f} M | {of['plain' + events] / 1e6:.2f} M | | |\n"
    text += f"| the same behind every policy, here | {of['every-policy' + customers] / 1e6:.2f} M | {every / 1e6:.2f} M | | |\n"
    text += f"| closures in container/heap, bare | {of['bare' + events] / 2e6:.2f} M | {of['bare' + events] / 1e6:.2f} M | | {every / of['bare' + events]:.2f} times |\n"
    missed, absent = [], []
    for peer, name in PEERS.items():
        if peer + customers not in of:
            absent.append(name)
            continue
        theirs = of[peer + customers]
        same, policies = plain / theirs, every / (2 * theirs)
        text += f"| {name} | {theirs / 1e6:.3f} M | {2 * theirs / 1e6:.3f} M | {same:.0f} times | {policies:.0f} times |\n"
        if same < 25:
            missed.append(f"{name}: {same:.1f} times, want 25")
    dear = of["pending-100" + events] / of["pending-10000" + events]
    text += f"\n10,000 pending events cost {dear:.2f} times what 100 do.\n"
    text += "".join(f"\n**{name} could not be installed, and is left out.**\n" for name in absent)
    text += f"\n{how}\n"
    if every < 0.3 * of["bare" + events]:
        missed.append("less than .3 of the bare loop")
    if of["every-policy" + customers] < 1e6:
        missed.append("less than a million customers a second with every policy on")
    if dear > 2:
        missed.append("10,000 pending events cost more than twice what 100 do")
    before = open(page).read()
    head, rest = before.split(BEGIN)
    open(page, "w").write(head + BEGIN + text + END + rest.split(END)[1])
    print(text)
    if missed:
        sys.exit("missed: " + "; ".join(missed))


if __name__ == "__main__":
    if sys.argv[1] == "play":
        play(sys.argv[2], int(sys.argv[3]))
    else:
        table(*sys.argv[2:])
