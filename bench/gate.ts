// For CI: the CPU of a request and of a chunk through Tollgate, as multiples of those through nginx as a
// bare proxy in the same run. Fails where one is above its bound. Takes a minute and a half.
// Run by: npm run bench gate
import { measure, sound } from './compare/measure'
import { median } from './compare/figures'
import { scenarioNamed, type Scenario } from './compare/scenarios'
import { bounds, type Bound } from './gate-bounds'
import { warm } from './compare/warm'
import { startLoad } from './load/load'
import { startNginx } from './subjects/nginx'
import { Missing, type Subject } from './subjects/subject'
import { startTollgate } from './subjects/tollgate'

const rounds = 6
const mostWarmSeconds = 12
const windowSeconds = 1.5
/**
 * The share of a processor that a gateway gets when it is the bottleneck. With less it batches fewer
 * requests for each ledger call and journal sync, and each request costs more.
 */
const leastBusy = 0.7

const plain = scenarioNamed('chat-64')
// One chunk at a time, as from a model: chunks without a gap arrive in batches, whose size depends
// on other load on the machine.
const streamed: Scenario = { ...scenarioNamed('stream-10-200'), leastSeconds: 0 }

/** CPU microseconds of the gateway alone. */
interface Costs {
  request: number
  chunk: number
  /** The share of one processor that the gateway had with plain requests. */
  busy: number
}

interface Round {
  nginx: Costs
  tollgate: Costs
}

/** Runs both in turns; returns the costs of each by round. */
async function run(nginx: Subject, tollgate: Subject): Promise<Round[]> {
  await using load = await startLoad()
  const one = async (subject: Subject, round: number): Promise<Costs> => {
    const at = { seconds: windowSeconds, round }
    const whole = sound(await measure(load, subject, { scenario: plain, ...at }))
    const many = sound(await measure(load, subject, { scenario: streamed, ...at }))
    // Includes the stream's share of the request: a difference of two figures would have the noise of both.
    const chunk = (many.cpu.own * many.finished) / many.events
    return { request: whole.cpu.own, chunk, busy: whole.busy.gateway }
  }
  for (const subject of [nginx, tollgate]) await warm(load, subject, mostWarmSeconds)
  const found: Round[] = []
  for (let round = 1; round <= rounds; round++) {
    found.push({ nginx: await one(nginx, round), tollgate: await one(tollgate, round) })
  }
  return found
}

const least = (values: readonly number[]) => Math.min(...values)

/**
 * Prints one line; returns false where the bound is exceeded. The minimum of all rounds counts: other load
 * only adds to a cost, while a regression is in every round.
 */
function judge(found: readonly Round[], { name, title, most, reason }: Bound): boolean {
  const own = found.map(({ tollgate }) => tollgate[name])
  const its = found.map(({ nginx }) => nginx[name])
  const ratio = least(own) / least(its)
  const holds = ratio <= most
  console.log(
    `${holds ? 'ok' : 'FAILED'}: ${title}: ${ratio.toFixed(2)} times nginx's, at most ${most} ` +
      `(${least(own).toFixed(1)} and ${least(its).toFixed(1)} µs at least, ` +
      `${median(own).toFixed(1)} and ${median(its).toFixed(1)} µs in the median of ${rounds})`,
  )
  if (!holds) console.log(`  the bound: ${reason}`)
  return holds
}

try {
  await using nginx = await startNginx()
  await using tollgate = await startTollgate()
  const found = await run(nginx, tollgate)
  const busy = Math.max(...found.map((round) => round.tollgate.busy))
  console.log(`Tollgate had ${(100 * busy).toFixed(0)} % of a processor in its best round`)
  const holds = bounds.map((bound) => judge(found, bound)).every(Boolean)
  if (!holds) process.exitCode = busy < leastBusy ? 3 : 1
  if (process.exitCode === 3) console.error('inconclusive: the machine is too busy')
} catch (thrown) {
  if (!(thrown instanceof Missing)) throw thrown
  console.error(`the gate could not run: ${thrown.message}`)
  process.exitCode = 2
}
