// Loaded before a gateway whose heap is watched: at SIGUSR2 it collects garbage and writes how much of
// its heap is left, and how many objects of each type that are.
import { heapStats } from 'bun:jsc'

process.on('SIGUSR2', () => {
  Bun.gc(true)
  const { heapSize, objectTypeCounts } = heapStats()
  process.stderr.write(`\nLIVE ${heapSize} ${JSON.stringify(objectTypeCounts)}\n`)
})
