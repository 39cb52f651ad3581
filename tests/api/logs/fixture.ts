import type { SQL } from 'bun'
import { openDatabase } from '../../harness/database'
import {
  sendRequest,
  messages,
  parsed,
  toStream,
  type Answer,
  type Json,
  type Stream,
} from '../../harness/http'
import { readLog } from '../../harness/request-log'
import { startRig, type Customer, type Rig } from '../../harness/server'

/** A rig whose request logs are read as a customer does. */
export interface Fixture extends AsyncDisposable {
  rig: Rig
  sql: SQL
  customer: Customer
  /** Asks `/v1`; without a path for a chat completion. */
  post: (body: Json | string, options?: { path?: string; as?: Customer }) => Promise<Answer>
  chat: (name: string, fields?: Json, as?: Customer) => Promise<Answer>
  stream: (name: string, fields?: Json, as?: Customer) => Promise<Stream>
  /** `GET /api/account/request-logs` and what follows. */
  read: (rest: string, as?: Customer) => Promise<Answer>
  /** The log of an answer, by its id, once it is there. */
  logOf: (answer: Pick<Answer, 'headers'>, as?: Customer) => Promise<Json>
  detailsOf: (answer: Pick<Answer, 'headers'>, as?: Customer) => Promise<Json>
}

export const userAgent = 'tests of logs'

export async function createFixture(environment: Record<string, string> = {}): Promise<Fixture> {
  const rig = await startRig({
    environment: { MINIMUM_BALANCE_USD: '0', LOG_LEVEL: 'warn', ...environment },
  })
  const { gateway } = rig
  const sql = await openDatabase(gateway.dataDir)
  await gateway.admin('PUT', '/config', { rates: { api_requests_per_minute: 1_000_000 } })
  const customer = await gateway.customer()
  const headers = { 'user-agent': userAgent }
  const post: Fixture['post'] = (body, { path, as = customer } = {}) =>
    sendRequest(gateway, { key: as.key, headers, body, ...(path !== undefined && { path }) })
  const chat: Fixture['chat'] = async (name, fields = {}, as = customer) =>
    post({ model: await rig.model(name), messages, ...fields }, { as })
  const read: Fixture['read'] = (rest, as = customer) =>
    sendRequest(gateway, { path: `/api/account/request-logs${rest}`, method: 'GET', key: as.key })
  return {
    rig,
    sql,
    customer,
    post,
    chat,
    stream: async (name, fields, as) => toStream(await chat(name, { stream: true, ...fields }, as)),
    read,
    logOf: ({ headers }, as = customer) => readLog(gateway, as, { headers }),
    detailsOf: ({ headers }, as = customer) => readLog(gateway, as, { headers, part: '/details' }),
    async [Symbol.asyncDispose]() {
      gateway.recorder.verify()
      await sql.close()
      await rig[Symbol.asyncDispose]()
    },
  }
}

/** The entries of a list in an answer. */
export const listIn = ({ body }: Answer, name: string): Json[] => {
  const list = body[name]
  return Array.isArray(list) ? list.map((entry: unknown) => parsed(JSON.stringify(entry))) : []
}

/** What is at a dotted path of an object. */
export function valueAt(value: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (found, name) =>
        typeof found === 'object' && found !== null ? Reflect.get(found, name) : undefined,
      value,
    )
}
