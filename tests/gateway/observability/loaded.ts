/** For `--preload`: tells which libraries of telemetry the process has loaded, when it ends. */
process.on('exit', () => {
  const loaded = Object.keys(require.cache).flatMap(
    (path) => /node_modules\/(prom-client|@opentelemetry\/[\w-]+)\//.exec(path)?.[1] ?? [],
  )
  process.stdout.write(`\nloaded: ${JSON.stringify([...new Set(loaded)].toSorted())}\n`)
})
