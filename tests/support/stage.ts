import { call, idIn } from '../connections/stage'
import { openDatabase } from '../database'
import type { Answer, Json } from '../faults/asking'
import { ask, type Answer as Told } from '../operator/calls'
import { startGateway, type Customer, type Gateway } from '../rig'

/** A gateway, and the two sides of its support. */
export interface Desk extends AsyncDisposable {
  gateway: Gateway
  sql: Awaited<ReturnType<typeof openDatabase>>
  /** Somebody called Ada. */
  somebody: () => Promise<Customer>
  /** Calls an endpoint of `/api`, then one of `/api/admin`. */
  api: (request: string, by: Customer, body?: Json) => Promise<Answer>
  operator: (request: string, body?: Json) => Promise<Told>
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

export async function openDesk(): Promise<Desk> {
  const gateway = await startGateway()
  const sql = await openDatabase(gateway.dataDir)
  const somebody = () => gateway.customer({}, { credit: 0, display_name: 'Ada' })
  const api: Desk['api'] = (request, by, body) => call(gateway, by, request, body)
  return {
    gateway,
    sql,
    somebody,
    api,
    operator: (request, body) => ask(gateway, request, body),
    async opened(more) {
      const owner = await somebody()
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
