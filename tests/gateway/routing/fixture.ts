import type { SQL } from 'bun'
import { openDatabase } from '../../harness/database'
import {
  sendRequest,
  messages,
  toStream,
  type Answer,
  type Json,
  type Stream,
} from '../../harness/http'
import { startRig, type Customer, type Rig } from '../../harness/server'

/** A rig, its database, and ways to ask as one of its customers. */
export interface Fixture extends AsyncDisposable {
  rig: Rig
  sql: SQL
  customer: Customer
  /** `POST /user/model-mappings` and a body, as the customer or as another one. */
  api: (request: string, body?: Json, as?: Customer) => Promise<Answer>
  /** The operator's, success or not. */
  admin: (request: string, body?: Json) => Promise<Answer>
  chat: (model: string, fields?: Json, as?: Customer) => Promise<Answer>
  stream: (model: string, fields?: Json, as?: Customer) => Promise<Stream>
  /** Makes a collection of `fake/<name>` models and returns its `collection/<name>`. */
  collection: (fields: Json) => Promise<string>
  /** Names of the fake models that were asked since the last reset. */
  calledModels: () => string[]
}

export async function createFixture(environment: Record<string, string> = {}): Promise<Fixture> {
  const rig = await startRig({
    environment: { MINIMUM_BALANCE_USD: '0', LOG_LEVEL: 'warn', ...environment },
  })
  const { gateway, upstream } = rig
  const sql = await openDatabase(gateway.dataDir)
  const customer = await gateway.customer()
  await gateway.admin('PUT', '/config', { rates: { api_requests_per_minute: 1_000_000 } })
  const call = (path: string, key: string, [method, body]: [string, Json | undefined]) =>
    sendRequest(gateway, { path, method, key, ...(body && { body }) })
  const api: Fixture['api'] = (request, body, as = customer) => {
    const [method = '', path = ''] = request.split(' ')
    return call(`/api${path}`, as.key, [method, body])
  }
  const chat: Fixture['chat'] = (model, fields = {}, as = customer) =>
    sendRequest(gateway, { key: as.key, body: { model, messages, ...fields } })
  return {
    rig,
    sql,
    customer,
    api,
    admin: (request, body) => {
      const [method = '', path = ''] = request.split(' ')
      return call(`/api/admin${path}`, gateway.adminKey, [method, body])
    },
    chat,
    stream: async (model, fields, as) =>
      toStream(await chat(model, { stream: true, ...fields }, as)),
    async collection(fields) {
      const made = await api('POST /user/model-collections', fields)
      if (made.status !== 201) throw new Error(`no collection: ${made.text}`)
      return String(made.body['model_id'])
    },
    calledModels: () => upstream.requests().map(({ model }) => model ?? ''),
    async [Symbol.asyncDispose]() {
      gateway.recorder.verify()
      await sql.close()
      await rig[Symbol.asyncDispose]()
    },
  }
}

/** The part of an answer that says what is wrong: status, code, field, issue. */
export const problem = ({ status, error }: Answer) => {
  const issue = error.details?.['issue']
  return [status, error.code, error.param, ...(issue === undefined ? [] : [issue])]
}
