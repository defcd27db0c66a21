# The question put to jq: for each hop and bucket the number of attempts and six
# quantiles of their durations, in ns. Usage: jq -nrf jq.jq FILE (NDJSON only)
reduce inputs as $a ({}; .["\($a.hop),\(if $a.truncated then "truncated" else "completed" end)"] += [$a.duration_ns // $a.duration_us * 1000])
| to_entries[]
| (.value | sort) as $sorted | ($sorted | length) as $n
| [.key, $n, ([500, 900, 950, 990, 999, 1000][] | $sorted[((. * $n + 999) / 1000 | floor) - 1])]
| map(tostring) | join(",")
