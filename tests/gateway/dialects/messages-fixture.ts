import Anthropic, { APIError } from '@anthropic-ai/sdk'
import type { SQL } from 'bun'
import { openDatabase } from '../../harness/database'
import { sendRequest, type Answer, type RequestOptions, type Json } from '../../harness/http'
import { startRig, type Customer, type Rig } from '../../harness/server'

/** A rig, and a customer who speaks the Messages format. */
export interface MessagesFixture extends AsyncDisposable {
  rig: Rig
  sql: SQL
  customer: Customer
  /** The official client, which sends its key as `x-api-key`. Never retries. */
  client: Anthropic
  clientOf: (customer: Customer) => Anthropic
  /** `baseRequest` with these fields, read to its end. */
  post: (body: Json, more?: Partial<RequestOptions>) => Promise<Answer>
  /** What the provider was last sent. */
  sent: () => unknown
  /** After each test. */
  verify: () => void
}

export const path = '/v1/messages'
/** What `fake/ok` says: 10 tokens. */
export const greeting = 'All is well at the fake provider today, thank you.'
export const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Say something.' }]
export const baseRequest = { max_tokens: 100, messages }

export async function createMessagesFixture(environment: Record<string, string> = {}) {
  const rig = await startRig({
    environment: { MINIMUM_BALANCE_USD: '0', LOG_LEVEL: 'warn', ...environment },
  })
  const sql = await openDatabase(rig.gateway.dataDir)
  const customer = await rig.gateway.customer()
  const clientOf = ({ key }: Customer) =>
    new Anthropic({
      apiKey: key,
      authToken: null,
      baseURL: rig.gateway.url,
      maxRetries: 0,
      fetch: rig.gateway.recorder.fetch,
    })
  const fixture: MessagesFixture = {
    rig,
    sql,
    customer,
    client: clientOf(customer),
    clientOf,
    post: (body, more = {}) =>
      sendRequest(rig.gateway, {
        path,
        key: customer.key,
        body: { ...baseRequest, ...body },
        ...more,
      }),
    sent: () => rig.upstream.requests().at(-1)?.body,
    verify() {
      rig.gateway.recorder.verify()
      rig.upstream.reset()
    },
    async [Symbol.asyncDispose]() {
      await sql.close()
      await rig[Symbol.asyncDispose]()
    },
  }
  return fixture
}

export const textOf = ({
  content,
}: {
  content: readonly { type: string; text?: string }[]
}): string => content.map(({ text = '' }) => text).join('')

/** What a call of the client rejects with. */
export async function failureOf(call: PromiseLike<unknown>): Promise<APIError> {
  try {
    await call
  } catch (thrown) {
    if (thrown instanceof APIError) return thrown
    throw thrown
  }
  throw new Error('The call did not fail.')
}
