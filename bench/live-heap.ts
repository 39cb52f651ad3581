// Preloaded into a gateway whose heap is watched: on SIGUSR2 it collects garbage and writes the remaining
// heap size, and the number of objects of each type.
import { heapStats } from 'bun:jsc'

process.on('SIGUSR2', () => {
  Bun.gc(true)
  const { heapSize, objectTypeCounts } = heapStats()
  process.stderr.write(`\nLIVE ${heapSize} ${JSON.stringify(objectTypeCounts)}\n`)
})
