// `npm run test:simulation`: simulates the money protocol, seed after seed, and reports broken promises.
// SECONDS of processor time (60), first SEED (random), at most so many RUNS (no bound), HOURS of faults a seed (0.5).
// `-- 17 18` replays seeds.
import { simulate, type Outcome } from './world'

const hourMs = 3_600_000
const { SECONDS = '60', HOURS = '0.5', RUNS = 'Infinity', SEED } = process.env
const drawn = Math.floor(Math.random() * 2 ** 31)
const chosen = process.argv.slice(2).map(Number)

const sums = { runs: 0, simulatedMs: 0, events: 0, requests: 0, served: 0, refused: 0, failed: 0 }
const faults = new Map<string, number>()
/** The longest wait for a verdict in a run without faults, and the highest p99 of the others. Milliseconds. */
const waits = { withoutFaults: 0, p99: 0 }
const broken: Outcome[] = []

function note(outcome: Outcome): void {
  sums.runs += 1
  sums.simulatedMs += outcome.simulatedMs
  sums.events += outcome.events
  for (const key of ['requests', 'served', 'refused', 'failed'] as const) {
    sums[key] += outcome.requests[key]
  }
  if (outcome.faults.size === 0)
    waits.withoutFaults = Math.max(waits.withoutFaults, outcome.waits.max)
  else waits.p99 = Math.max(waits.p99, outcome.waits.p99)
  for (const [kind, count] of outcome.faults) faults.set(kind, (faults.get(kind) ?? 0) + count)
  if (outcome.violations.length === 0) return
  broken.push(outcome)
  const { seed, violations, profile } = outcome
  console.log(`seed ${seed}: ${[...profile.faults.keys()].join(', ')}; ${profile.roundTripMs} ms`)
  for (const { atMs, promise, details } of violations.slice(0, 3)) {
    console.log(`  ${(atMs / 1000).toFixed(3)} s: ${promise}: ${details}`)
  }
}

const cpuSeconds = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

const options = { faultyMs: Number(HOURS) * hourMs }
for (const seed of chosen) note(simulate({ ...options, seed }))
for (
  let seed = Number(SEED ?? drawn);
  chosen.length === 0 && sums.runs < Number(RUNS) && cpuSeconds() < Number(SECONDS);
  seed++
) {
  note(simulate({ ...options, seed }))
}

const hours = sums.simulatedMs / hourMs
const perDay = Math.round((hours / cpuSeconds()) * 86_400)
console.log(`${sums.runs} runs, ${hours.toFixed(1)} simulated hours, ${sums.events} events`)
console.log(`${perDay} simulated hours a day of processor time`)
console.log(
  `${sums.requests} requests: ${sums.served} served, ${sums.refused} refused, ${sums.failed} failed`,
)
console.log(
  `waits for a verdict: ${Math.round(waits.withoutFaults)} ms at most without faults, p99 of a run with faults ${Math.round(waits.p99)} ms`,
)
for (const [kind, count] of faults) console.log(`  ${kind}: ${count}`)
console.log(broken.length === 0 ? 'every promise held' : `${broken.length} runs broke a promise`)
process.exitCode = broken.length === 0 ? 0 : 1
