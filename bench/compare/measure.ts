import { startLoad, type Load } from '../load/load'
import type { Outcome } from '../load/plan'
import { cpuOf, ownPids, residentMbOf, type Cpu } from '../process-tree'
import type { Subject } from '../subjects/subject'
import { planOf, planOfStreams, type Scenario } from './scenarios'

/** The measurement of one scenario on one subject in one round. */
export interface Sample extends Outcome {
  subject: string
  scenario: string
  round: number
  /** Complete answers a second. */
  rate: number
  /** CPU microseconds a request: the gateway alone, and with its database. */
  cpu: Cpu
  /** The gateway's peak resident memory during the load, in MB, without its database. */
  residentMb: number
  /** Utilization of one processor during the load, as fractions. */
  busy: { gateway: number; load: number; provider: number }
}

/** Returns the number of requests sent, however they ended. */
export const requestsOf = ({ finished, disconnected, cut, failed }: Outcome): number =>
  [finished, disconnected, cut, ...Object.values(failed)].reduce((sum, count) => sum + count, 0)

const lookMs = 250
const maxWaitMs = 15_000
/** The fraction of one processor below which a gateway counts as idle. */
const idle = 0.05

/** Waits until a gateway has finished its background work, such as booking; 15 s at most. */
export async function untilIdle(pids: readonly number[]): Promise<void> {
  const deadline = performance.now() + maxWaitMs
  for (let before = cpuOf(pids).all; performance.now() < deadline;) {
    await Bun.sleep(lookMs)
    const now = cpuOf(pids).all
    if (now - before < idle * lookMs * 1000) return
    before = now
  }
}

/** Records the peak memory until it is disposed of. */
function watchMemory(pids: readonly number[]) {
  const watch = { maxMb: residentMbOf(pids) }
  const timer = setInterval(() => {
    watch.maxMb = Math.max(watch.maxMb, residentMbOf(pids))
  }, lookMs)
  return { watch, [Symbol.dispose]: () => clearInterval(timer) }
}

/** Streams last longer than any load. */
const maxStreamSeconds = 90
/** The time in which streams open before the load begins, in seconds. */
const openingSeconds = 2

/** Holds streams open for a while; resolves once they are open. They are cut when it is disposed of. */
export async function openStreams(subject: Subject, count: number, seconds: number) {
  const load = await startLoad()
  const over = load.run(planOfStreams(subject, count, seconds))
  // The process may be ended before that.
  over.catch(() => undefined)
  await Bun.sleep(openingSeconds * 1000)
  return load
}

/** Measures once: CPU from before the load until all work that it caused is done. */
export async function measure(
  load: Load,
  subject: Subject,
  { scenario, seconds, round }: { scenario: Scenario; seconds: number; round: number },
): Promise<Sample> {
  const { pids, provider } = subject
  const { openStreams: open = 0 } = scenario
  await using streams = open > 0 ? await openStreams(subject, open, maxStreamSeconds) : undefined
  using memory = watchMemory(ownPids(pids))
  const before = [cpuOf(pids), cpuOf([load.pid]), cpuOf([provider.pid])]
  const outcome = await load.run(planOf(subject, scenario, seconds))
  const micros = outcome.seconds * 1_000_000
  const used = (pid: number, index: number) => cpuOf([pid]).own - (before[index]?.own ?? 0)
  const busy = {
    gateway: (cpuOf(pids).own - (before[0]?.own ?? 0)) / micros,
    load: used(load.pid, 1) / micros,
    provider: used(provider.pid, 2) / micros,
  }
  await streams?.[Symbol.asyncDispose]()
  await untilIdle(pids)
  const after = cpuOf(pids)
  const requests = outcome.finished + outcome.disconnected + outcome.cut
  const each = (kind: keyof Cpu) => (after[kind] - (before[0]?.[kind] ?? 0)) / requests
  return {
    ...outcome,
    subject: subject.name,
    scenario: scenario.name,
    round,
    rate: outcome.finished / outcome.seconds,
    cpu: { own: each('own'), all: each('all') },
    residentMb: memory.watch.maxMb,
    busy,
  }
}

/** Returns the sample. Throws where an answer failed or was cut, as such answers would be cheap. */
export function sound(sample: Sample): Sample {
  const { finished, cut, failed, failure, subject } = sample
  if (finished > 0 && cut === 0 && Object.keys(failed).length === 0) return sample
  throw new Error(`${subject} failed: ${JSON.stringify(failed)}, ${cut} cut. ${failure}`)
}
