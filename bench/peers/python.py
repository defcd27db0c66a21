"""The question put to plain Python: for each hop, kind and bucket the number of
attempts and six quantiles of their durations, in ns. Usage: python.py FORM FILE,
the form one of bench/generate's."""

import collections
import csv
import fractions
import gzip
import json
import sys

QUANTILES = [fractions.Fraction(p) for p in ("0.5", "0.9", "0.95", "0.99", "0.999", "1")]


def log(lines):
    for row in map(json.loads, lines):
        yield row["hop"], "", row["truncated"], duration(row)


def table(lines):
    for row in csv.DictReader(lines):
        yield row["hop"], "", row["truncated"] == "true", duration(row)


def duration(row):
    return int(row["duration_us"]) * 1000 if "duration_us" in row else int(row["duration_ns"])


def jaeger(document):
    for trace in json.load(document)["data"]:
        for span in trace["spans"]:
            tags = {tag["key"]: tag["value"] for tag in span["tags"]}
            service = trace["processes"][span["processID"]]["serviceName"]
            yield f"{service} {span['operationName']}", tags["span.kind"], tags.get("error.type") == "timeout", span["duration"] * 1000


def otlp(lines):
    for resource in (r for line in lines for r in json.loads(line)["resourceSpans"]):
        service = attributes(resource["resource"])["service.name"]
        for span in (s for scope in resource["scopeSpans"] for s in scope["spans"]):
            kind = "server" if span["kind"] == 2 else "client"
            ns = int(span["endTimeUnixNano"]) - int(span["startTimeUnixNano"])
            yield f"{service} {span['name']}", kind, attributes(span).get("error.type") == "timeout", ns


def attributes(of):
    return {a["key"]: a["value"]["stringValue"] for a in of["attributes"]}


def answer(form, path):
    attempts = {"hops": log, "hops-csv": table, "jaeger": jaeger, "otlp": otlp}[form]
    buckets = collections.defaultdict(list)
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as source:
        for hop, kind, truncated, ns in attempts(source):
            buckets[hop, kind, truncated].append(ns)
    for (hop, kind, truncated), values in buckets.items():
        values.sort()
        ranks = [-(-p * len(values) // 1) for p in QUANTILES]
        print(hop, kind, "truncated" if truncated else "completed", len(values), *(values[int(r) - 1] for r in ranks), sep=",")


answer(*sys.argv[1:])
