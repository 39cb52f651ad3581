// Loaded before a gateway whose heap is watched: at SIGUSR2 it collects garbage and writes how much of
// its heap is left.
import { heapStats } from 'bun:jsc'

process.on('SIGUSR2', () => {
  Bun.gc(true)
  process.stderr.write(`\nLIVE ${heapStats().heapSize}\n`)
})
