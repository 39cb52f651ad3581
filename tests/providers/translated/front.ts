import type { SQL } from 'bun'
import { isJson, type Json } from '../conformance/fixture'
import { withoutIdentifiers } from '../../harness/account-identifiers'
import { openDatabase } from '../../harness/database'
import { sendRequest, messages, toStream, type Answer, type Stream } from '../../harness/http'
import { findBookedOnce, type Booked } from '../../harness/ledger'
import { startGateway, upstreamSecret, type Customer, type Gateway } from '../../harness/server'

/** A request as it reached the provider. */
export interface ProviderRequest {
  path: string
  headers: Headers
  text: string
  /** Without the identifiers of the account, which tests/gateway/dialects/account-identifiers has. */
  body: Json
}

/** A gateway, and in front of its providers one server that says what a test has it say. */
export interface Front extends AsyncDisposable {
  gateway: Gateway
  customer: Customer
  sql: SQL
  url: string
  /** Since the last reset. */
  requests: ProviderRequest[]
  /** Answers every request until it is set anew. */
  answer: (request: ProviderRequest) => Response | Promise<Response>
  post: (path: string, body: Json) => Promise<Answer>
  chat: (model: string, fields?: Json) => Promise<Answer>
  stream: (model: string, fields?: Json) => Promise<Stream>
  booked: (answer: Answer) => Promise<Booked>
  /** Has a model cost 1 and 4 USD per million tokens; one that is not there is made of `fields`. */
  price: (model: string, fields?: Json) => Promise<unknown>
  reset: () => void
}

const pricing = { input: 1, output: 4 }

const jsonIn = (text: string): Json => {
  if (!text.startsWith('{')) return {}
  const value: unknown = JSON.parse(text)
  return isJson(value) ? value : {}
}

/** A server on a free port, whose answers are silent for as long as a test wants. */
const loopback = { port: 0, hostname: '127.0.0.1', idleTimeout: 0 }

/** Starts both; `environment` is made for the front's address. */
export async function openFront(environment: (url: string) => Json): Promise<Front> {
  const requests: ProviderRequest[] = []
  const upstream = Bun.serve({
    ...loopback,
    async fetch(request) {
      const text = await request.text()
      const path = request.url.slice(new URL(request.url).origin.length)
      const body = withoutIdentifiers(jsonIn(text))
      const arrived = { path, headers: request.headers, text, body }
      requests.push(arrived)
      return front.answer(arrived)
    },
  })
  const url = `http://127.0.0.1:${upstream.port}`
  const set = Object.entries(environment(url)).map(([name, value]) => [name, String(value)])
  const gateway = await startGateway({
    environment: { MINIMUM_BALANCE_USD: '0', LOG_LEVEL: 'warn', ...Object.fromEntries(set) },
  })
  gateway.recorder.canary(upstreamSecret)
  const customer = await gateway.customer()
  const sql = await openDatabase(gateway.dataDir)
  const post: Front['post'] = (path, body) =>
    sendRequest(gateway, { path, key: customer.key, body })
  const chat: Front['chat'] = (model, fields = {}) =>
    post('/v1/chat/completions', { model, messages, ...fields })
  const front: Front = {
    gateway,
    customer,
    sql,
    url,
    requests,
    answer: () => new Response(null, { status: 500 }),
    post,
    chat,
    stream: async (model, fields) => toStream(await chat(model, { stream: true, ...fields })),
    booked: (answer) => findBookedOnce(sql, answer),
    price: (model, fields) =>
      fields
        ? gateway.admin('POST', '/models', {
            id: model,
            name: model,
            category: 'chat',
            pricing,
            ...fields,
          })
        : gateway.admin('PUT', `/models/${model}`, { pricing }),
    reset() {
      gateway.recorder.verify()
      requests.length = 0
    },
    async [Symbol.asyncDispose]() {
      await sql.close()
      await gateway[Symbol.asyncDispose]()
      await upstream.stop(true)
    },
  }
  return front
}

/** Server-sent events, and the end of the bytes after the last one. */
export const eventsOf = (...events: (Json | '[DONE]')[]): Response =>
  new Response(
    events
      .map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`)
      .join(''),
    { headers: { 'content-type': 'text/event-stream' } },
  )
