// Preloaded into a gateway whose allocations are counted: on SIGUSR2 it writes the number of objects of each
// type in its heap, dead ones that were not collected yet included; then it collects them, and writes what is left.
import { heapStats } from 'bun:jsc'

process.on('SIGUSR2', () => {
  const found = heapStats().objectTypeCounts
  Bun.gc(true)
  const left = heapStats().objectTypeCounts
  process.stderr.write(`\nHEAP ${JSON.stringify({ found, left })}\n`)
})
