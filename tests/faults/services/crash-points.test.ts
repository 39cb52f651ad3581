import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { createObservations, startLoad, sendObserved } from './client-load'
import { expectFired, expectFiredAtStart, expectNothingLost } from './crashes'
import { startNodes, type Nodes } from '../../harness/nodes'
import { crashPoints, type CrashPoint } from '../../../server/src/platform/crash-points'
import { eventually } from '../../../server/testing/eventually'
import type { Customer } from '../../harness/server'

setDefaultTimeout(120_000)

/** The occurrence of a point at which the node is killed. */
interface Plan {
  nth: number
  /** The trigger: requests, a graceful shutdown, or a start after a crash. */
  by: 'load' | 'stop' | 'start'
  /** Whether the interrupted attempt must be visible as an orphan. */
  leavesOrphan?: boolean
}

const inLoad = (nth: number): Plan => ({ nth, by: 'load' })
const cutOff = (nth: number): Plan => ({ nth, by: 'load', leavesOrphan: true })

const plans: Partial<Record<CrashPoint, Plan>> = {
  'after-admit': inLoad(20),
  'after-open-record': cutOff(20),
  'after-upstream-sent': cutOff(20),
  'after-first-byte': cutOff(20),
  'after-usage': cutOff(20),
  'before-journal': cutOff(20),
  'mid-group-commit': inLoad(40),
  'after-journal': inLoad(20),
  'before-last-byte': inLoad(20),
  'after-last-byte': inLoad(20),
  'before-truncate': { nth: 1, by: 'start' },
  'flush-before-begin': inLoad(2),
  'flush-before-commit': inLoad(2),
  'flush-after-commit': inLoad(2),
  'replay-mid': { nth: 1, by: 'start' },
  'take-before-commit': inLoad(4),
  'take-after-commit': inLoad(4),
  'return-before-commit': { nth: 1, by: 'stop' },
  'return-after-commit': { nth: 1, by: 'stop' },
}
/** Points that need other nodes: crash-points-of-nodes.test.ts. */
const ofSeveral: CrashPoint[] = ['recall-received', 'renew-mid', 'sweep-mid']

const granted = 1_000_000_000_000n
const workers = 6

let nodes: Nodes
let models: [string, number][]
let held: string

beforeAll(async () => {
  nodes = await startNodes(1, { LOG_LEVEL: 'error' })
  held = await nodes.model('held-5')
  models = [
    [await nodes.model('chunks-5'), 5],
    [await nodes.model('chunks-12-gap-10'), 12],
  ]
})
afterAll(() => nodes[Symbol.asyncDispose]())

const newCustomers = (count: number): Promise<Customer[]> =>
  Promise.all(Array.from({ length: count }, () => nodes.customer(granted)))

async function crash(point: CrashPoint, { nth, by }: Plan, customers: readonly Customer[]) {
  const witness = createObservations()
  // Nothing is left to book since `expectNothingLost`: the point is reached under load, not while the node starts.
  await nodes.at(0).stop('SIGTERM')
  await nodes.restart(0, by === 'start' ? {} : { CRASH_AT: `${point}:${nth}` })
  const load = startLoad(() => nodes.at(0), { customers, models }, witness)
  // Something to recover: an attempt that is open at the kill, however slow the load is.
  const open = customers
    .slice(0, by === 'start' ? 1 : 0)
    .map((customer) =>
      sendObserved(nodes.at(0), { customer, model: held, tokens: 5, stream: true }, witness),
    )
  await eventually(() => nodes.upstream.heldCount() === open.length)
  if (by !== 'load') await eventually(() => witness.completed.length >= workers)
  if (by === 'stop') void nodes.at(0).stop('SIGTERM')
  if (by === 'start') await nodes.at(0).stop('SIGKILL')
  else await expectFired(nodes.at(0), point)
  await Promise.all([load.stop(), ...open])
  if (by === 'start') await expectFiredAtStart(nodes, point)
  return witness
}

test('C02: every crash point has its test', () => {
  expect([...Object.keys(plans), ...ofSeveral].toSorted()).toEqual([...crashPoints].toSorted())
})

test.each(crashPoints.filter((point) => plans[point] !== undefined))(
  'C02: killed at %s: delivered answers are booked once, no attempt is unrecorded, leases are free again',
  async (point) => {
    const plan = plans[point]
    if (!plan) throw new Error(`${point} has no plan`)
    const customers = await newCustomers(workers)
    const witness = await crash(point, plan, customers)
    await nodes.restart(0)
    const { settled, orphans } = await expectNothingLost(nodes, customers, witness)
    console.log(
      `C02 ${point}: ${witness.completed.length} finished, ${witness.broken} broken; ${settled} settled, ${orphans} orphans`,
    )
    if (plan.leavesOrphan) expect(orphans).toBeGreaterThan(0)
    if (plan.nth > 4 || plan.by === 'stop') expect(witness.completed.length).toBeGreaterThan(0)
  },
)
