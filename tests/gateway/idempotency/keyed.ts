import { sendRequest, messages, type Answer, type Json } from '../../harness/http'
import type { Customer, Gateway, Rig } from '../../harness/server'
import { eventuallyReads } from '../../../server/testing/eventually'

/** Returns an unused key. */
export const newKey = () => `key-${crypto.randomUUID()}`

export interface IdempotentOptions {
  customer: Customer
  key: string
  body: Json
  path?: string
  signal?: AbortSignal
}

/** Asks with an `Idempotency-Key`; without `path` for a chat completion. */
export const sendIdempotent = (
  gateway: Gateway,
  { customer, key, ...options }: IdempotentOptions,
): Promise<Answer> =>
  sendRequest(gateway, { ...options, key: customer.key, headers: { 'idempotency-key': key } })

/** A chat completion of `fake/<name>`, to be asked for with a key. */
export const chatOf = async (rig: Rig, name: string, fields: Json = {}): Promise<Json> => ({
  model: await rig.model(name),
  messages,
  ...fields,
})

/** What an account has been charged, once all of it is booked: USD, and for how many attempts. */
export async function readCharge({ admin }: Gateway, { userId }: Customer, expected: number) {
  const read = async () => {
    const { transactions } = await admin('GET', `/transactions?user_id=${userId}`)
    const usage = Array.isArray(transactions)
      ? transactions.filter(({ type }: Json) => type === 'usage')
      : []
    return { usd: -sum(usage, 'amount'), requests: sum(usage, 'request_count') }
  }
  const charged = await eventuallyReads(read, ({ requests }) => requests >= expected)
  const { balance } = await admin('GET', `/users/${userId}`)
  return { ...charged, balance: Number(balance) }
}

const sum = (rows: Json[], field: string) =>
  rows.reduce((total, row) => total + Number(row[field]), 0)

/** The requests that reached the fake provider for `fake/<name>`. */
export const callsOf = ({ upstream }: Rig, name: string) =>
  upstream.requests().filter(({ model }) => model === name)

export const isReplay = ({ headers }: Answer) => headers.get('x-idempotent-replay') === 'true'
