import { afterEach, describe, expect, test } from 'bun:test'
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

afterEach(async () => {
  for (const { recorder } of nodes.all) recorder.verify()
  await nodes[Symbol.asyncDispose]()
})

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
  })

/** Waits until usage is booked, as a distant database delays it. */
async function eventuallyBooked(): Promise<void> {
  const attempts = nodes.upstream.requests().length
  for (let tries = 0; tries < 20 && (await waitUntilBooked(nodes.sql)) < attempts; tries++) {
    await Bun.sleep(1000)
  }
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

/** Loads nodes with solvent customers; two requests of each run on each node, until `isOver`. */
async function load(customers: readonly Customer[], isOver: () => boolean) {
  const statuses = new Map<string, number>()
  const failures: string[] = []
  let slowestMs = 0
  const one = async (customer: Customer, index: number) => {
    while (!isOver()) {
      const answer = await nodes.chat(nodes.at(index), customer, chatRequest)
      const { status, error, tookMs } = answer
      slowestMs = Math.max(slowestMs, tookMs)
      if (status !== 200) failures.push(failureOf(index, answer))
      const outcome = status === 200 ? '200' : `${status} ${error.code}`
      statuses.set(outcome, (statuses.get(outcome) ?? 0) + 1)
      await Bun.sleep(20)
    }
  }
  await Promise.all(
    customers.flatMap((customer) => nodes.all.map((_, index) => one(customer, index))),
  )
  return { statuses: Object.fromEntries(statuses), slowestMs, failures }
}

/** Locks rows for 1 to 10 s, and stalls commits for 3 s, in sequence and concurrently. */
async function disturb([poor, rich]: readonly [Customer, Customer]): Promise<void> {
  await lockRow(poor, 'account', 1)
  await Bun.sleep(500)
  await lockRow(poor, 'lease', 2.6)
  await Promise.all([stallCommits(nodes, 3000), lockRow(rich, 'account', 2.6)])
  await Bun.sleep(500)
  await lockRow(poor, 'account', 5)
  await Bun.sleep(2000)
  const stalling = Bun.sleep(4000).then(() => stallCommits(nodes, 3000))
  await Promise.all([lockRow(poor, 'lease', 10), lockRow(rich, 'lease', 5), stalling])
}

/** Defines the tests for a number of nodes. */
export function describeLeaseFaults(count: number): void {
  describe(`rows locked for 1 to 10 s and commits stalled for 3 s, ${count} nodes`, () => {
    test.each([0, 200, 500])(
      'finding M1, M3: the database %d ms away: no request is rejected, nothing is written off, leases match the nodes',
      async (roundTripMs) => {
        nodes = await startNodes(count, { METRICS_PORT: '0', LOG_LEVEL: 'info' })
        const worst = await nodes.floorOf(chatRequest)
        // The small balance pays for all concurrent requests, and one more.
        const poor = await nodes.customer(BigInt(count + 2) * 4n * worst)
        const rich = await nodes.customer(1_000_000_000_000n)
        for (const wire of nodes.all.map((_, index) => nodes.wireOf(index)))
          wire.delay(roundTripMs / 2)
        let isOver = false
        const loading = load([poor, rich], () => isOver)
        await disturb([poor, rich])
        await Bun.sleep(1000)
        isOver = true
        const { statuses, slowestMs, failures } = await loading
        console.log(
          `${count} nodes, ${roundTripMs} ms: ${JSON.stringify(statuses)}, slowest ${slowestMs.toFixed(0)} ms`,
        )
        expect(failures).toEqual([])
        expect(Object.keys(statuses)).toEqual(['200'])
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
