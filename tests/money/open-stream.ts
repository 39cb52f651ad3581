import { sendRaw, messages } from '../harness/http'
import { findBooked, type Billing, type Booked } from '../harness/ledger'
import { parseResponse, type RawClient } from '../harness/raw-client'
import type { Customer } from '../harness/server'
import type { FakeProvider } from '../harness/upstreams/fake-provider'

const models = new Map<string, Promise<unknown>>()

/** Registers a model of a built-in provider, at the prices of the rig. */
async function modelOf({ rig }: Billing, id: string): Promise<string> {
  const fields = { context_length: 8192, max_output_tokens: 4096, pricing: { input: 1, output: 4 } }
  const body = { id, name: id, category: 'chat', ...fields }
  const key = `${rig.gateway.url} ${id}`
  const adding = models.get(key) ?? rig.gateway.admin('POST', '/models', body)
  models.set(key, adding)
  await adding
  return id
}

interface ModelRequest extends Record<string, unknown> {
  name: string
  path?: string
}

/** Opens a stream on a connection of its own. */
export async function openStream(
  at: Billing,
  { key }: Customer,
  { name, path, ...fields }: ModelRequest,
) {
  const input = path ? { prompt: 'Say something.' } : { messages }
  const body = { model: await modelOf(at, name), ...input, stream: true, ...fields }
  return sendRaw(at.rig.gateway, { key, body, ...(path && { path }) })
}

/** The id of the request in its answer. */
export const idOf = (client: RawClient) =>
  parseResponse(client.read())?.headers.find(([name]) => name === 'x-request-id')?.[1] ?? ''

/** The one event of the request, once it is booked. */
export async function eventOf(at: Billing, client: RawClient): Promise<Booked> {
  const [event, ...others] = await findBooked(at.sql, [idOf(client)])
  if (!event || others.length > 0) throw new Error(`${others.length + 1} events`)
  return event
}

/** Counts those of these requests that are booked. */
export async function countBooked({ sql }: Billing, ids: readonly string[]): Promise<number> {
  const [row] = await sql`
    select count(*) as count from usage_event where request_id in ${sql(ids)}`
  return Number(row.count)
}

/** The requests that a provider still answers. */
export const running = (upstream: FakeProvider) =>
  upstream.requests().filter(({ closedAt }) => !closedAt)
