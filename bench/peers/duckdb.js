// The question put to DuckDB: for each hop and bucket the number of attempts and
// six quantiles of their durations, in ns. Usage: node duckdb.js FILE [THREADS]
const { DuckDBInstance } = require('@duckdb/node-api')

const [file, threads = '2'] = process.argv.slice(2)
const quote = (s) => `'${s.replaceAll("'", "''")}'`
const source = /\.csv(\.gz|\.zst)?$/.test(file) ? 'read_csv' : 'read_json'
const format = source === 'read_json' ? ", format='newline_delimited'" : ''

async function main() {
  const duck = await (await DuckDBInstance.create(':memory:', { threads })).connect()
  const from = `${source}(${quote(file)}${format})`
  const columns = (await duck.runAndReadAll(`describe select * from ${from}`)).getRows().map((row) => row[0])
  const ns = columns.includes('duration_us') ? 'duration_us * 1000' : 'duration_ns'
  const answer = await duck.runAndReadAll(`
    select hop, truncated, count(*), quantile_disc(${ns}, [0.5, 0.9, 0.95, 0.99, 0.999, 1])
    from ${from} group by all`)
  for (const [hop, truncated, n, quantiles] of answer.getRows()) {
    console.log([hop, truncated ? 'truncated' : 'completed', n, ...quantiles.items].join(','))
  }
}

main()
