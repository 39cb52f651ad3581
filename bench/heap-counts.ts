// Preloaded into a gateway whose allocations are counted: on SIGUSR2 it writes the number of objects of each
// type in its heap, including dead ones that were not collected yet.
import { heapStats } from 'bun:jsc'

process.on('SIGUSR2', () => {
  process.stderr.write(`\nHEAP ${JSON.stringify(heapStats().objectTypeCounts)}\n`)
})
