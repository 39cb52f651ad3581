import { readFileSync } from 'node:fs'

/**
 * Loaded before a gateway: how long its event loop was held by work of its own. A turn that is late while
 * the thread had the processor was held by us; one that is late while it had not, by the machine. At
 * SIGUSR2 it says so and begins anew.
 */
const everyMs = 10
/** Nanoseconds that this thread ran; undefined where the system does not tell. */
const onProcessor = () => Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0])

let held: number[] = []
let lastAt = performance.now()
let lastRan = onProcessor()
setInterval(() => {
  const [now, ran] = [performance.now(), onProcessor()]
  const lateMs = now - lastAt - everyMs
  held.push(Math.max(0, Math.min(lateMs, (ran - lastRan) / 1e6)))
  lastAt = now
  lastRan = ran
}, everyMs)
process.on('SIGUSR2', () => {
  held.sort((a, b) => a - b)
  const p99 = held[Math.floor(held.length * 0.99)] ?? 0
  process.stdout.write(
    `loop: ${held.length} turns, p99 ${p99.toFixed(1)} ms, max ${(held.at(-1) ?? 0).toFixed(1)} ms\n`,
  )
  held = []
})
