import { heapStats } from 'bun:jsc'

/** Loaded before a gateway: at SIGWINCH it collects garbage, and prints how many objects of each type are left. */
process.on('SIGWINCH', () => {
  Bun.gc(true)
  process.stdout.write(`live: ${JSON.stringify(heapStats().objectTypeCounts)}\n`)
})
