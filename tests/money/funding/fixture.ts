import type { SQL } from 'bun'
import { newOrganization, type Organization } from '../../harness/organization'
import { call, completion, createFixture, type Fixture } from '../../harness/byok'
import { openDatabase } from '../../harness/database'
import { sendRequest, messages, type Json } from '../../harness/http'
import { sendOperatorRequest as operate } from '../../harness/operator'
import type { Customer, Gateway } from '../../harness/server'
import { WaitTimeoutError, waitTimeoutMs } from '../../../server/testing/eventually'

/** What a call of `chat` costs by the catalogue: 5 tokens in, 3 out, in nano-dollars. */
export const priceNanos = 3_005_000n
export const price = Number(priceNanos) / 1e9

/** A gateway whose platform serves `fake/one` by itself, and organizations with pools. */
export interface FundingFixture extends AsyncDisposable {
  fixture: Fixture
  sql: SQL
  organization: (fields?: Json) => Promise<Organization>
  /** One whose plan and limits leave room for tests of other things. */
  roomy: () => Promise<Organization>
  /** Returns a member whose requests its pool pays. */
  funded: (by: Organization, role?: string) => Promise<Customer>
  grant: (target: Json, amount?: number) => Promise<unknown>
  chat: (by: Customer, fields?: Json) => ReturnType<typeof sendRequest>
  api: (by: Customer, request: string, body?: Json) => ReturnType<typeof call>
  poolOf: (organization: Organization) => Promise<number>
  balanceOf: (customer: Customer) => Promise<number>
}

/** Holds 0.004131 USD: of a limit of one cent, two such calls leave 0.00399. */
const small = { model: 'fake/one', messages, max_tokens: 3 }

export async function createFundingFixture(): Promise<FundingFixture> {
  await using stack = new AsyncDisposableStack()
  const fixture = stack.use(await createFixture())
  const { gateway, upstream } = fixture
  await raiseApiRate(gateway)
  await gateway.admin('POST', '/providers', {
    key: 'fake',
    name: 'Fake',
    adapter: 'openai',
    base_url: upstream.url,
  })
  const platform = { name: 'Platform', provider: 'fake', api_key: 'sk-platform-0123456789' }
  await gateway.admin('POST', '/connections', platform)
  const pricing = { input: 1, output: 1000 }
  await gateway.admin('POST', '/models', { id: 'fake/one', name: 'One', category: 'chat', pricing })
  const sql = stack.use(await openDatabase(gateway.dataDir))
  const open = stack.move()
  const api: FundingFixture['api'] = (by, request, body) => call(gateway, by, request, body)
  return {
    fixture,
    sql,
    organization: (fields) => newOrganization(fixture, fields),
    async roomy() {
      const made = await newOrganization(fixture)
      await sql`
        update organization set plan_id = (select id from plan where name = 'roomy'),
          requests_per_minute = 1000000, tokens_per_minute = 1000000000, max_concurrent_requests = 1000
        where id = ${made.id}`
      return made
    },
    async funded(by, role) {
      const member = await by.member(role)
      const settings = { funding_source: 'organization', funding_organization_id: by.id }
      const { status, text } = await api(member, 'PUT /account/settings', settings)
      if (status !== 200) throw new Error(text)
      return member
    },
    grant: (target, amount = 1) =>
      operate(gateway, 'POST /credits/grant', { ...target, amount, reason: 'For the test.' }),
    chat: ({ key }, fields = {}) => sendRequest(gateway, { key, body: { ...small, ...fields } }),
    api,
    poolOf: async ({ owner, path }) => {
      const { body } = await api(owner, `GET ${path}`)
      return Number(body['credit_balance'])
    },
    balanceOf: async ({ userId }) => {
      const { body } = await operate(gateway, `GET /users/${userId}`)
      return Number(body['balance'])
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  }
}

/** Who waits by asking again is not to run into the rate of `/api`. */
export const raiseApiRate = (gateway: Gateway) =>
  gateway.admin('PUT', '/config', { rates: { api_requests_per_minute: 1_000_000 } })

/** Waits until something reads as wanted: usage is booked a moment after its answer. */
export async function waitForValue<Value>(
  read: () => Promise<Value>,
  expected: Value,
): Promise<void> {
  const endsAt = performance.now() + waitTimeoutMs
  let found = await read()
  while (!Bun.deepEquals(found, expected)) {
    if (performance.now() > endsAt) {
      const values = `${JSON.stringify(expected)}, found ${JSON.stringify(found)}`
      throw new WaitTimeoutError(values, waitTimeoutMs)
    }
    await Bun.sleep(20)
    found = await read()
  }
}

/** An answer that comes when the test says so. */
export function createGate() {
  const { promise, resolve } = Promise.withResolvers<void>()
  return {
    open: resolve,
    answer: async () => {
      await promise
      return completion()
    },
  }
}
