// The question put to DuckDB: for each hop, kind and bucket the number of attempts
// and six quantiles of their durations, in ns. Usage: node duckdb.js FORM FILE
// [THREADS], the form one of bench/generate's.
const { DuckDBInstance } = require('@duckdb/node-api')

const [form, file, threads = '2'] = process.argv.slice(2)
const quoted = `'${file.replaceAll("'", "''")}'`

// DuckDB finds the columns of a log by itself: naming them makes it no faster.
async function log(duck, from) {
  const columns = (await duck.runAndReadAll(`describe select * from ${from}`)).getRows().map((row) => row[0])
  return `select hop, '' as kind, truncated, ${columns.includes('duration_us') ? 'duration_us * 1000' : 'duration_ns'} as ns from ${from}`
}

// Of traces it is told the types, and only of what the question needs. A Jaeger
// document is one object, which must fit in its buffer.
const jaeger = `
  select service || ' ' || span.operationName as hop, kind, marked as truncated, span.duration * 1000 as ns from (
    select span, processes[span.processID].serviceName as service,
      list_filter(span.tags, lambda t: t.key = 'span.kind')[1].value as kind,
      len(list_filter(span.tags, lambda t: t.key = 'error.type' and t.value = 'timeout')) > 0 as marked
    from (select trace.processes as processes, unnest(trace.spans) as span from (
      select unnest(data) as trace from read_json(${quoted}, format='unstructured', maximum_object_size=2147483648, columns={data: '
        STRUCT(processes MAP(VARCHAR, STRUCT(serviceName VARCHAR)), spans STRUCT(operationName VARCHAR, duration BIGINT, processID VARCHAR,
          tags STRUCT(key VARCHAR, value VARCHAR)[])[])[]'}))))`

const otlp = `
  select service || ' ' || span.name as hop, case span.kind when 2 then 'server' else 'client' end as kind,
    len(list_filter(span.attributes, lambda t: t.key = 'error.type' and t.value.stringValue = 'timeout')) > 0 as truncated,
    span.endTimeUnixNano - span.startTimeUnixNano as ns
  from (select service, unnest(scope.spans) as span from (
    select list_filter(r.resource.attributes, lambda t: t.key = 'service.name')[1].value.stringValue as service, unnest(r.scopeSpans) as scope from (
      select unnest(resourceSpans) as r from read_json(${quoted}, format='newline_delimited', columns={resourceSpans: '
        STRUCT(resource STRUCT(attributes STRUCT(key VARCHAR, value STRUCT(stringValue VARCHAR))[]), scopeSpans STRUCT(spans
          STRUCT(name VARCHAR, kind INTEGER, startTimeUnixNano BIGINT, endTimeUnixNano BIGINT,
            attributes STRUCT(key VARCHAR, value STRUCT(stringValue VARCHAR))[])[])[])[]'}))))`

const attempts = {
  hops: (duck) => log(duck, `read_json(${quoted}, format='newline_delimited')`),
  'hops-csv': (duck) => log(duck, `read_csv(${quoted})`),
  jaeger: () => jaeger,
  otlp: () => otlp,
}

async function main() {
  const duck = await (await DuckDBInstance.create(':memory:', { threads })).connect()
  const answer = await duck.runAndReadAll(`
    select hop, kind, truncated, count(*), quantile_disc(ns, [0.5, 0.9, 0.95, 0.99, 0.999, 1])
    from (${await attempts[form](duck)}) group by all`)
  for (const [hop, kind, truncated, n, quantiles] of answer.getRows()) {
    console.log([hop, kind, truncated ? 'truncated' : 'completed', n, ...quantiles.items].join(','))
  }
}

main()
