import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { stallCommits } from './stalled-commits'
import type { Stream } from '../../harness/http'
import { eventually } from '../../../server/testing/eventually'
import { recordFigure } from '../../../server/testing/figures'
import { startNodes, type ChatRequest, type Nodes } from '../../harness/nodes'
import { expectSoundLedger } from '../../harness/ledger-oracle'
import { waitUntilBooked } from '../../harness/ledger'
import { internalUrl, scrape } from '../../harness/scrape'
import type { Customer } from '../../harness/server'

let nodes: Nodes

const chatRequest: ChatRequest = { name: 'chunks-2', max_tokens: 1000 }
/** The interval of renewals, and the tick after it: leases match the nodes by then. */
const renewalMs = 17_000

/** Locks the row of an account, or of one of its leases, as another transaction would. */
async function lockRow({ userId }: Customer, row: 'account' | 'lease', seconds: number) {
  const sql = nodes.postgres.connect()
  try {
    await sql.begin(async (held) => {
      if (row === 'account') {
        await held`select 1 from credit_account where id = ${userId} for update`
      } else {
        await held`select 1 from credit_lease where id in (
          select id from credit_lease where account_id = ${userId} and state = 'active' limit 1
        ) for update`
      }
      await held`select pg_sleep(${seconds})`
    })
  } finally {
    await sql.close()
  }
}

/** Reads each node's sum of its leases, in nano-dollars, and the database's. */
async function leaseSums(): Promise<{ reported: number; stored: number }> {
  const scrapes = await Promise.all(nodes.all.map(async (node) => scrape(await internalUrl(node))))
  const [row] = await nodes.sql`
    select coalesce(sum(amount), 0) as stored from credit_lease where state = 'active'`
  const reported = scrapes.map((one) => one.sum('tollgate_lease_usd', { part: 'amount' }))
  return {
    reported: reported.reduce((sum, usd) => sum + Math.round(usd * 1e9), 0),
    stored: Number(row.stored),
  }
}

/** Waits until each node's leases are those of the database. Resolves with the milliseconds that it took. */
const equalSums = () =>
  eventually(async () => {
    const { reported, stored } = await leaseSums()
    return reported === stored
    // Several renewals: one may fail on a slow machine.
  }, 90_000)

/** Waits until each request has its event, as a distant database delays it, and nothing else is booked. */
async function eventuallyBooked(): Promise<void> {
  const attempts = nodes.upstream.requests().length
  await eventually(async () => {
    const [{ events }] = await nodes.sql`select count(*) as events from usage_event`
    return Number(events) >= attempts
  }, 60_000)
  await waitUntilBooked(nodes.sql, attempts)
}

/** Returns a rejected answer, and what its node logged lately: the reason is in the log only. */
function failureOf(index: number, { status, text, tookMs, headers }: Stream): string {
  const requestId = headers.get('x-request-id') ?? ''
  const lines = nodes.at(index).output().trimEnd().split('\n')
  const own = lines.filter((line) => requestId !== '' && line.includes(requestId))
  const serious = lines.filter((line) => /"level":[456]0/.test(line)).slice(-20)
  return [
    `node ${index}: ${status} after ${tookMs.toFixed(0)} ms: ${text}`,
    ...new Set([...own, ...serious]),
  ].join('\n')
}

/** Requests of solvent customers: each sends one after the other to each node, until `stop`. */
class Load {
  readonly statuses = new Map<string, number>()
  readonly failures: string[] = []
  slowestMs = 0
  readonly #callers: { begun: number; ended: number }[] = []
  readonly #running: Promise<unknown>
  #isOver = false

  constructor(customers: readonly Customer[]) {
    const pairs = customers.flatMap((customer) =>
      nodes.all.map((_, index) => ({ customer, index })),
    )
    this.#running = Promise.all(
      pairs.map(async ({ customer, index }) => this.#call(customer, index)),
    )
  }

  async #call(customer: Customer, index: number): Promise<void> {
    const caller = { begun: 0, ended: 0 }
    this.#callers.push(caller)
    while (!this.#isOver) {
      caller.begun += 1
      this.#note(index, await nodes.chat(nodes.at(index), customer, chatRequest))
      caller.ended += 1
      await Bun.sleep(20)
    }
  }

  #note(index: number, answer: Stream): void {
    const { status, error, tookMs } = answer
    this.slowestMs = Math.max(this.slowestMs, tookMs)
    if (status !== 200) this.failures.push(failureOf(index, answer))
    const outcome = status === 200 ? '200' : `${status} ${error.code}`
    this.statuses.set(outcome, (this.statuses.get(outcome) ?? 0) + 1)
  }

  /** Waits until every request that runs now has its answer. */
  async untilAnswered(): Promise<void> {
    const targets = this.#callers.map((caller) => ({ caller, begun: caller.begun }))
    await eventually(() => targets.every(({ caller, begun }) => caller.ended >= begun), 90_000)
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await this.#running
  }
}

/** Locks rows for 1 to 10 s, and stalls commits for 3 s: the next fault once the requests that met one are answered. */
async function disturb([poor, rich]: readonly [Customer, Customer], load: Load): Promise<void> {
  const faults = [
    () => lockRow(poor, 'account', 1),
    () => lockRow(poor, 'lease', 2.6),
    () => Promise.all([stallCommits(nodes, 3000), lockRow(rich, 'account', 2.6)]),
    () => lockRow(poor, 'account', 5),
    () => {
      const stalling = Bun.sleep(4000).then(() => stallCommits(nodes, 3000))
      return Promise.all([lockRow(poor, 'lease', 10), lockRow(rich, 'lease', 5), stalling])
    },
  ]
  for (const fault of faults) {
    await fault()
    await load.untilAnswered()
  }
}

/** Sets how far away the database is, in milliseconds there and back. */
function setDistance(roundTripMs: number): void {
  for (const index of nodes.all.keys()) nodes.wireOf(index).delay(roundTripMs / 2)
}

/** Defines the tests for a number of nodes. */
export function describeLeaseFaults(count: number): void {
  beforeAll(async () => {
    nodes = await startNodes(count, { METRICS_PORT: '0', LOG_LEVEL: 'info' })
  })
  afterEach(() => setDistance(0))
  afterAll(async () => {
    for (const { recorder } of nodes.all) recorder.verify()
    await nodes[Symbol.asyncDispose]()
  })

  describe(`rows locked for 1 to 10 s and commits stalled for 3 s, ${count} nodes`, () => {
    test.each([0, 200, 500])(
      'finding M1, M3: the database %d ms away: no request is rejected, nothing is written off, leases match the nodes',
      async (roundTripMs) => {
        const worst = await nodes.floorOf(chatRequest)
        // The small balance pays for all concurrent requests, and one more.
        const poor = await nodes.customer(BigInt(count + 2) * 4n * worst)
        const rich = await nodes.customer(1_000_000_000_000n)
        setDistance(roundTripMs)
        const load = new Load([poor, rich])
        await disturb([poor, rich], load)
        await load.stop()
        const { statuses, slowestMs, failures } = load
        const counts = Object.fromEntries(statuses)
        console.log(
          `${count} nodes, ${roundTripMs} ms: ${JSON.stringify(counts)}, slowest ${slowestMs.toFixed(0)} ms`,
        )
        expect(failures).toEqual([])
        expect(Object.keys(counts)).toEqual(['200'])
        recordFigure(
          `M1 M3: leases match ${count} nodes, the database ${roundTripMs} ms away, after`,
          await equalSums(),
          { unit: 'ms', atMost: renewalMs },
        )
        await eventuallyBooked()
        await expectSoundLedger(nodes.sql, { attempts: nodes.upstream.requests().length })
      },
    )
  })
}
