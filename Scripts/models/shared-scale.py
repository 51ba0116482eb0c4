#!/usr/bin/env python3
"""How many stores one shared log serves: a simulation of appends, conflicts and fan-out, with times that
`strata-bench shared` has measured.

    Scripts/models/shared-scale.py [SECONDS]

Each store has writers that save at random times. A store appends what waits as one group; the log's row is a queue.
An append after another one is answered with what is missing, which the store receives before it tries again. Prints a
line for each number of stores and each load: what is saved, how long a save takes, how many appends were overtaken, and
what PostgreSQL sends.
"""
import heapq
import random
import sys

COMMIT = 1.2e-3  # an append that is accepted: the row's lock, and a commit on the disk
REFUSE = 0.15e-3  # an append that is overtaken: the lock, a comparison, the answer
TRIP = 0.2e-3  # to the server and back
RECEIVE = 0.25e-3  # a commit of the store that receives, and for each transaction:
APPLY = 0.03e-3
QUIET = 2e-3  # between notifications of one store
READ = 0.1e-3  # a read of news: PostgreSQL's processor time, and for each transaction:
READ_EACH = 0.005e-3
BYTES = 400  # of a transaction with one small object
GROUP = 64  # saves in one append at most


class Simulation:
    def __init__(self, stores, rate, seed=1):
        self.random = random.Random(seed)
        self.stores, self.rate = stores, rate
        self.events, self.order = [], 0
        self.head = 0  # transactions in the log
        self.version = [0] * stores
        self.waiting = [[] for _ in range(stores)]  # times at which saves began
        self.busy = [False] * stores
        self.row_free = 0.0  # when the row's lock is free
        self.told = 0.0
        self.waits, self.appends, self.overtaken = [], 0, 0
        self.processor, self.sent = 0.0, 0

    def at(self, time, call, *arguments):
        self.order += 1
        heapq.heappush(self.events, (time, self.order, call, arguments))

    def run(self, seconds):
        for store in range(self.stores):
            self.at(self.random.expovariate(self.rate), self.save, store)
        while self.events and self.events[0][0] < seconds:
            time, _, call, arguments = heapq.heappop(self.events)
            call(time, *arguments)
        return seconds

    def save(self, time, store):
        self.waiting[store].append(time)
        self.at(time + self.random.expovariate(self.rate), self.save, store)
        self.append(time, store)

    def append(self, time, store):
        if self.busy[store] or not self.waiting[store]:
            return
        self.busy[store] = True
        self.at(max(time + TRIP / 2, self.row_free), self.locked, store)

    def locked(self, time, store):
        if time < self.row_free:
            return self.at(self.row_free, self.locked, store)
        self.appends += 1
        if self.version[store] == self.head:
            group = self.waiting[store][:GROUP]
            del self.waiting[store][:GROUP]
            self.head += len(group)
            self.version[store] = self.head
            self.row_free = time + COMMIT
            self.processor += COMMIT / 4
            done = self.row_free + TRIP / 2
            self.waits += [done - begin for begin in group]
            self.at(done, self.free, store)
            self.tell(done)
        else:
            self.overtaken += 1
            self.row_free = time + REFUSE
            self.processor += REFUSE
            self.receive(self.row_free + TRIP / 2, store)

    def tell(self, time):
        if time < self.told + QUIET:
            return
        self.told = time
        for store in range(self.stores):
            self.at(time + QUIET + TRIP, self.news, store)

    def news(self, time, store):
        if not self.busy[store] and self.version[store] < self.head:
            self.busy[store] = True
            self.processor += READ
            self.receive(time + TRIP, store)

    def receive(self, time, store):
        count = self.head - self.version[store]
        self.version[store] = self.head
        self.processor += READ_EACH * count
        self.sent += count * BYTES
        self.at(time + RECEIVE + APPLY * count, self.free, store)

    def free(self, time, store):
        self.busy[store] = False
        self.append(time, store)


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 5.0
    print("| stores | saves/s wanted | saves/s | median ms | 99 of 100 ms | overtaken | processor | MB/s sent |")
    print("|--:|--:|--:|--:|--:|--:|--:|--:|")
    for stores in (3, 10, 30, 100):
        for wanted in (100, 500, 1_000, 2_000, 4_000):
            run = Simulation(stores, wanted / stores)
            run.run(seconds)
            waits = sorted(run.waits) or [0]
            print(
                f"| {stores} | {wanted:,} | {len(run.waits) / seconds:,.0f} | {1e3 * waits[len(waits) // 2]:.1f} "
                f"| {1e3 * waits[len(waits) * 99 // 100]:.1f} | {100 * run.overtaken / max(1, run.appends):.0f} % "
                f"| {100 * run.processor / seconds:.0f} % | {run.sent / seconds / 1e6:.1f} |")


main()
