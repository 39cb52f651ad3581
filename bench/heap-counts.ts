// Loaded before a gateway whose allocations are counted: at SIGUSR2 it writes how many objects of each
// type its heap has, dead ones that were not collected yet included.
import { heapStats } from 'bun:jsc'

process.on('SIGUSR2', () => {
  process.stderr.write(`\nHEAP ${JSON.stringify(heapStats().objectTypeCounts)}\n`)
})
