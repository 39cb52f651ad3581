import type { SQL } from 'bun'
import { openDatabase } from './database'
import { sendRequest, messages, toStream, type Answer, type Json, type Stream } from './http'
import { startRig, type Customer, type Rig, type RigOptions } from './server'
import { eventuallyReads } from '../../server/testing/eventually'

/** A usage event as it was booked. Amounts are nano-dollars. */
export interface Booked {
  id: string
  requestId: string
  accountId: string | null
  keyId: string
  state: string
  outcome: string
  estimated: boolean
  inputTokens: number
  outputTokens: number
  cost: bigint
  writtenOff: bigint
  durationMs: number
  firstTokenMs: number | null
}

/** A rig whose money can be looked at. Amounts are nano-dollars. */
export interface Billing extends AsyncDisposable {
  rig: Rig
  sql: SQL
  /** A customer with exactly that much. */
  customer: (credit: bigint) => Promise<Customer>
  /** A plain chat completion of `fake/<name>`. */
  chat: (customer: Customer, name: string, fields?: Json) => Promise<Answer>
  stream: (customer: Customer, name: string, fields?: Json) => Promise<Stream>
  /** Returns the smallest hold of that request, which the error for an account without credit states. */
  floorOf: (name: string, fields?: Json) => Promise<bigint>
}

/** USD, as a number or in plain digits, as nano-dollars. */
export const nanosOf = (usd: unknown) => BigInt(Math.round(Number(usd) * 1e9))

/** The cost that an answer tells. */
export const reportedCost = ({ headers }: Answer) => nanosOf(headers.get('x-tollgate-cost') ?? NaN)

export const requestIdOf = ({ headers }: Answer) => headers.get('x-request-id') ?? ''

/** 1,000 nano-dollars a token that is read, 4,000 one that is written: the prices of the rig. */
export const outputPrice = 4000n
export const priceOf = (input: number, output: number) =>
  BigInt(input) * 1000n + BigInt(output) * outputPrice

const grantedAs = (credit: bigint) => Number(credit) / 1e9

/** Starts a rig without a minimum balance, unless `environment` has one. */
export async function startBilling({
  environment,
  ...options
}: RigOptions & { provider?: Json } = {}): Promise<Billing> {
  const rig = await startRig({
    ...options,
    environment: { MINIMUM_BALANCE_USD: '0', ...environment },
  })
  const sql = await openDatabase(rig.gateway.dataDir)
  const customer = (credit: bigint) => rig.gateway.customer({}, { credit: grantedAs(credit) })
  const chat: Billing['chat'] = async ({ key }, name, fields = {}) =>
    sendRequest(rig.gateway, { key, body: { model: await rig.model(name), messages, ...fields } })
  const penniless = await customer(0n)
  return {
    rig,
    sql,
    customer,
    chat,
    stream: async (who, name, fields) =>
      toStream(await chat(who, name, { stream: true, ...fields })),
    floorOf: async (name, fields) => {
      const { status, error } = await chat(penniless, name, fields)
      if (status !== 402) throw new Error(`${name}: ${status} without credit`)
      return nanosOf(error.details?.['minimum_required'])
    },
    async [Symbol.asyncDispose]() {
      await sql.close()
      await rig[Symbol.asyncDispose]()
    },
  }
}

/** The events of requests, once there is one of each. */
export async function findBooked(sql: SQL, requestIds: readonly string[]): Promise<Booked[]> {
  const read = async () => {
    const rows: Row[] = await sql`
      select id, request_id, account_id, key_id, state, outcome, estimated, input_tokens,
        output_tokens, cost, written_off, duration_ms, first_token_ms
      from usage_event where request_id in ${sql(requestIds)}
      order by started_at, outcome <> 'failed_over'`
    const missing = new Set(requestIds)
    for (const { request_id, outcome } of rows) {
      if (outcome !== 'failed_over') missing.delete(request_id)
    }
    return { missing, rows }
  }
  const { rows } = await eventuallyReads(read, ({ missing }) => missing.size === 0)
  return rows.map(toBooked)
}

interface Row {
  id: string
  request_id: string
  account_id: string | null
  key_id: string
  state: string
  outcome: string
  estimated: boolean
  input_tokens: string
  output_tokens: string
  cost: string
  written_off: string
  duration_ms: number
  first_token_ms: number | null
}

const toBooked = (row: Row): Booked => ({
  id: row.id,
  requestId: row.request_id,
  accountId: row.account_id,
  keyId: row.key_id,
  state: row.state,
  outcome: row.outcome,
  estimated: row.estimated,
  inputTokens: Number(row.input_tokens),
  outputTokens: Number(row.output_tokens),
  cost: BigInt(row.cost),
  writtenOff: BigInt(row.written_off),
  durationMs: row.duration_ms,
  firstTokenMs: row.first_token_ms,
})

/** The one event of a request. */
export async function findBookedOnce(sql: SQL, answer: Answer): Promise<Booked> {
  const [event, ...others] = await findBooked(sql, [requestIdOf(answer)])
  if (!event || others.length > 0) throw new Error(`${others.length + 1} events of one request`)
  return event
}

/** An account as the database has it. */
export async function accountOf(sql: SQL, { userId }: Customer) {
  const [row] = await sql`select posted, leased from credit_account where id = ${userId}`
  return { posted: BigInt(row.posted), leased: BigInt(row.leased) }
}

/**
 * Waits until all that was settled is booked: at least `minEvents`, and nothing new within four flushes. Time in which the
 * machine stood still, and a node could not flush either, does not count. Throws `WaitTimeoutError`, with what was read
 * last, where the number is not reached or events come without an end. Where there is no number: `scrapeWhenBooked`.
 */
export async function waitUntilBooked(sql: SQL, minEvents: number): Promise<number> {
  const read = async () => {
    const [{ count }] = await sql`select count(*) as count from usage_event`
    return { booked: Number(count), awaited: minEvents }
  }
  let { booked } = await eventuallyReads(read, (found) => found.booked >= found.awaited)
  let quietLooks = 0
  const lookAgain = async () => {
    const lookedAtMs = performance.now()
    await Bun.sleep(700)
    const pauseMs = performance.now() - lookedAtMs
    const before = booked
    booked = (await read()).booked
    quietLooks = booked === before && pauseMs <= 1400 ? quietLooks + 1 : 0
    return { booked, before, awaited: minEvents, pauseMs, quietLooks }
  }
  await eventuallyReads(lookAgain, (found) => found.quietLooks === 2, 60_000)
  return booked
}
