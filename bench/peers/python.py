"""The question put to plain Python: for each hop and bucket the number of
attempts and six quantiles of their durations, in ns. Usage: python.py FILE"""

import collections
import csv
import fractions
import gzip
import json
import sys

QUANTILES = [fractions.Fraction(p) for p in ("0.5", "0.9", "0.95", "0.99", "0.999", "1")]


def records(path):
    read = gzip.open if path.endswith(".gz") else open
    with read(path, "rt") as lines:
        if ".csv" in path:
            for row in csv.DictReader(lines):
                yield row["hop"], row["truncated"] == "true", row
        else:
            for row in map(json.loads, lines):
                yield row["hop"], row["truncated"], row


def duration(row):
    return int(row["duration_us"]) * 1000 if "duration_us" in row else int(row["duration_ns"])


buckets = collections.defaultdict(list)
for hop, truncated, row in records(sys.argv[1]):
    buckets[hop, truncated].append(duration(row))
for (hop, truncated), values in buckets.items():
    values.sort()
    ranks = [-(-p * len(values) // 1) for p in QUANTILES]
    print(hop, "truncated" if truncated else "completed", len(values), *(values[int(r) - 1] for r in ranks), sep=",")
