import { call, idIn } from '../../harness/byok'
import { openDatabase } from '../../harness/database'
import type { Answer, Json } from '../../harness/http'
import { sendOperatorRequest, type Answer as OperatorAnswer } from '../../harness/operator'
import { startGateway, type Customer, type Gateway } from '../../harness/server'

/** A gateway, and the two sides of its support. */
export interface SupportFixture extends AsyncDisposable {
  gateway: Gateway
  sql: Awaited<ReturnType<typeof openDatabase>>
  /** A customer named Ada. */
  newCustomer: () => Promise<Customer>
  /** Calls an endpoint of `/api`, then one of `/api/admin`. */
  api: (request: string, by: Customer, body?: Json) => Promise<Answer>
  operator: (request: string, body?: Json) => Promise<OperatorAnswer>
  /** A new ticket of an account of its own, as an account has twenty at most. */
  opened: (more?: Json) => Promise<{ id: string; owner: Customer }>
  change: (id: string, by: Customer, body: Json) => Promise<Answer>
  comment: (id: string, by: Customer, content?: string) => Promise<Answer>
  statusOf: (id: string, by: Customer) => Promise<unknown>
}

export const fields = (more: Json = {}): Json => ({
  subject: 'Help',
  description: 'It broke.',
  ...more,
})

export const statuses = (answers: readonly { status: number }[]) =>
  answers.map(({ status }) => status)

/** So many times the same. */
export const times = <Value>(count: number, value: Value): Value[] =>
  Array.from({ length: count }, () => value)

export async function createSupportFixture(): Promise<SupportFixture> {
  const gateway = await startGateway()
  const sql = await openDatabase(gateway.dataDir)
  const newCustomer = () => gateway.customer({}, { credit: 0, display_name: 'Ada' })
  const api: SupportFixture['api'] = (request, by, body) => call(gateway, by, request, body)
  return {
    gateway,
    sql,
    newCustomer,
    api,
    operator: (request, body) => sendOperatorRequest(gateway, request, body),
    async opened(more) {
      const owner = await newCustomer()
      return { owner, id: idIn(await api('POST /support/tickets', owner, fields(more))) }
    },
    change: (id, by, body) => api(`PUT /support/tickets/${id}`, by, body),
    comment: (id, by, content = 'More.') =>
      api(`POST /support/tickets/${id}/comments`, by, { content }),
    statusOf: async (id, by) => (await api(`GET /support/tickets/${id}`, by)).body['status'],
    async [Symbol.asyncDispose]() {
      await sql[Symbol.asyncDispose]()
      await gateway[Symbol.asyncDispose]()
    },
  }
}
