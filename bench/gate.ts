// For `npm run measure`: the CPU of a request and of a chunk through Tollgate, as multiples of those through nginx as a bare proxy in
// the same run, and of a request through two workers, as a multiple of that through one process. Fails where one is
// above its bound. Takes two and a half minutes.
// Run by: npm run bench gate
import { measure, sound } from './compare/measure'
import { median } from './compare/figures'
import { scenarioNamed, type Scenario } from './compare/scenarios'
import { bounds, type Bound, type Costs } from './gate-bounds'
import { warm } from './compare/warm'
import { startLoad, type Load } from './load/load'
import { startNginx } from './subjects/nginx'
import { Missing, type Subject } from './subjects/subject'
import { startTollgate, startWorkers } from './subjects/tollgate'
import { recordFigure } from '../server/testing/figures'

const rounds = 6
const maxWarmSeconds = 12
const windowSeconds = 1.5
/**
 * The share of a processor that a gateway gets when it is the bottleneck. With less it batches fewer
 * requests for each ledger call and journal sync, and each request costs more.
 */
const minBusy = 0.7

const plain = scenarioNamed('chat-64')
// One chunk at a time, as from a model: chunks without a gap arrive in batches, whose size depends
// on other load on the machine.
const streamed: Scenario = { ...scenarioNamed('stream-10-200'), minSeconds: 0 }

/** The costs of each gateway in one round. */
type Round = Record<'nginx' | 'tollgate' | 'workers', Costs>

/** Measures all in turns; returns the costs of each by round. */
async function run(load: Load, subjects: Record<keyof Round, Subject>): Promise<Round[]> {
  const one = async (subject: Subject, round: number): Promise<Costs> => {
    const at = { seconds: windowSeconds, round }
    const plainResult = sound(await measure(load, subject, { scenario: plain, ...at }))
    const many = sound(await measure(load, subject, { scenario: streamed, ...at }))
    // Includes the stream's share of the request: a difference of two figures would have the noise of both.
    const chunk = (many.cpu.own * many.finished) / many.events
    const { own, all } = plainResult.cpu
    return { request: own, requestInAll: all, chunk, busy: plainResult.busy.gateway }
  }
  for (const subject of Object.values(subjects)) await warm(load, subject, maxWarmSeconds)
  const found: Round[] = []
  for (let round = 1; round <= rounds; round++) {
    found.push({
      nginx: await one(subjects.nginx, round),
      tollgate: await one(subjects.tollgate, round),
      workers: await one(subjects.workers, round),
    })
  }
  return found
}

const minimum = (values: readonly number[]) => Math.min(...values)

/**
 * Prints one line; returns false where the bound is exceeded. The minimum of all rounds counts: other load
 * only adds to a cost, while a regression is in every round.
 */
function judge(found: readonly Round[], { cost, of, comparedWith, title, max, reason }: Bound) {
  const own = found.map((round) => round[of][cost])
  const its = found.map((round) => round[comparedWith][cost])
  const ratio = minimum(own) / minimum(its)
  const holds = ratio <= max
  recordFigure(`${title}, as a multiple of ${nameOf[comparedWith]}'s`, ratio, {
    unit: 'x',
    atMost: max,
  })
  console.log(
    `${holds ? 'ok' : 'FAILED'}: ${title}: ${ratio.toFixed(2)} times that of ${nameOf[comparedWith]}, at most ` +
      `${max} (${minimum(own).toFixed(1)} and ${minimum(its).toFixed(1)} µs at least, ` +
      `${median(own).toFixed(1)} and ${median(its).toFixed(1)} µs in the median of ${rounds})`,
  )
  if (!holds) console.log(`  the bound: ${reason}`)
  return holds
}

const nameOf = { nginx: 'nginx', tollgate: 'one process', workers: 'two workers' }

try {
  await using nginx = await startNginx()
  await using tollgate = await startTollgate()
  await using workers = await startWorkers()
  await using load = await startLoad()
  const found = await run(load, { nginx, tollgate, workers })
  const busy = Math.max(...found.map((round) => round.tollgate.busy))
  console.log(`Tollgate had ${(100 * busy).toFixed(0)} % of a processor in its best round`)
  const holds = bounds.map((bound) => judge(found, bound)).every(Boolean)
  // `npm run measure` judges by several runs.
  if (!holds && !process.env['TEST_FIGURES']) process.exitCode = busy < minBusy ? 3 : 1
  if (process.exitCode === 3) console.error('inconclusive: the machine is too busy')
} catch (thrown) {
  if (!(thrown instanceof Missing)) throw thrown
  console.error(`the gate could not run: ${thrown.message}`)
  process.exitCode = 2
}
