import { eventually } from '../../../server/testing/eventually'
import { sendRequest, type Answer, type Json } from '../../harness/http'
import type { Customer, Gateway } from '../../harness/server'

/** Sends a chat with a key, and reads the answer to its end. */
export const chat = (
  gateway: Gateway,
  { key }: Pick<Customer, 'key'>,
  body: Json,
): Promise<Answer> =>
  sendRequest(gateway, { key, body: { messages: [{ role: 'user', content: 'Hello.' }], ...body } })

/** Reads the booked balance of an account, in USD. */
async function readBalance({ admin }: Gateway, userId: string): Promise<number> {
  return Number((await admin('GET', `/users/${userId}`))['balance'])
}

/** Waits until the balance is at most `max`, as usage is booked within seconds, and returns it. */
export async function awaitBalance(gateway: Gateway, userId: string, max: number): Promise<number> {
  let balance = Number.NaN
  await eventually(async () => {
    balance = await readBalance(gateway, userId)
    return balance <= max
  })
  return balance
}

/** Returns the 99th percentile of times. */
export const p99 = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[Math.ceil(times.length * 0.99) - 1] ?? Number.NaN
