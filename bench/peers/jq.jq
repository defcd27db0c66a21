# The question put to jq: for each hop, kind and bucket the number of attempts and
# six quantiles of their durations, in ns. Usage: jq -nr --arg form FORM -f jq.jq
# FILE, the form one of bench/generate's but for hops-csv.
def bucket: if . then "truncated" else "completed" end;
def attempts:
  if $form == "hops" then ["\(.hop),,\(.truncated | bucket)", .duration_ns // .duration_us * 1000]
  elif $form == "jaeger" then
    .data[] | .processes as $processes | .spans[]
    | ([.tags[] | {(.key): .value}] | add) as $tags
    | ["\($processes[.processID].serviceName) \(.operationName),\($tags["span.kind"]),\($tags["error.type"] == "timeout" | bucket)", .duration * 1000]
  else
    # The nanoseconds of two dates need more digits than jq's numbers have.
    .resourceSpans[] | .resource.attributes[0].value.stringValue as $service | .scopeSpans[].spans[]
    | ["\($service) \(.name),\(if .kind == 2 then "server" else "client" end),\([.attributes[] | select(.key == "error.type").value.stringValue] == ["timeout"] | bucket)",
       ((.endTimeUnixNano[:-9] | tonumber) - (.startTimeUnixNano[:-9] | tonumber)) * 1000000000
       + (.endTimeUnixNano[-9:] | tonumber) - (.startTimeUnixNano[-9:] | tonumber)]
  end;
# One list, grouped: a list a name that grows would be copied with every line.
[inputs | attempts] | group_by(.[0])[]
| .[0][0] as $name | (map(.[1]) | sort) as $sorted | ($sorted | length) as $n
| [$name, $n, ([500, 900, 950, 990, 999, 1000][] | $sorted[((. * $n + 999) / 1000 | floor) - 1])]
| map(tostring) | join(",")
