import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { sumsOf } from './booked'
import {
  brokenUpload,
  dyingRequests,
  heldRequests,
  sendMedia,
  wholeRequests,
  type MediaRequest,
} from './media-requests'
import { accountOf, findBooked, nanosOf, waitUntilBooked } from '../../harness/ledger'
import { expectSoundLedger, type CompletedRequest } from '../../harness/ledger-oracle'
import { startNodes, type Nodes } from '../../harness/nodes'
import { openRaw, rawRequest, type RawClient } from '../../harness/raw-client'
import { runCommand } from '../../harness/run-command'
import type { Customer } from '../../harness/server'
import { eventually } from '../../../server/testing/eventually'

setDefaultTimeout(240_000)

const credit = 10_000_000_000n
const kills = 2

let nodes: Nodes
/** Provider that ends each connection at its first bytes, in the middle of an upload. */
let dying: ReturnType<typeof startDyingProvider>

function startDyingProvider() {
  return Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: { data: (socket) => socket.terminate() },
  })
}

beforeAll(async () => {
  nodes = await startNodes(1, { LOG_LEVEL: 'error', IDLE_TIMEOUT_SECONDS: '300' })
  dying = startDyingProvider()
  const { admin } = nodes.at(0)
  await admin('POST', '/providers', {
    key: 'dying',
    name: 'Dying',
    adapter: 'openai',
    base_url: `http://127.0.0.1:${dying.port}/v1`,
  })
  await admin('POST', '/connections', { name: 'dying', provider: 'dying', api_key: 'secret' })
  const pricing = { input: 0, output: 0, audio_hour: 0.36 }
  const model = { id: 'dying/ears', name: 'Ears', category: 'transcription', pricing }
  await admin('POST', '/models', model)
})
afterAll(async () => {
  dying.stop(true)
  await nodes[Symbol.asyncDispose]()
})

const uploads = () => readdir(join(nodes.at(0).dataDir, 'uploads'))
const paidBy = async (customer: Customer) => credit - (await accountOf(nodes.sql, customer)).posted

/** Sends all at once, each for a customer of its own. */
const sendAll = async (
  requests: readonly MediaRequest[],
  send: (customer: Customer, request: MediaRequest) => Promise<unknown>,
) =>
  Promise.all(
    requests.map(async (request) => {
      const customer = await nodes.customer(credit)
      await send(customer, request)
      return customer
    }),
  )

/** Reads an answer to its end; empty where its connection breaks. */
const readWhole = (response: Response) => response.text().catch(() => '')

const completed: CompletedRequest[] = []
/** Customers with one request each, and what it costs. */
const charged: { customer: Customer; request: MediaRequest }[] = []

async function complete(customer: Customer, request: MediaRequest): Promise<void> {
  const response = await sendMedia(nodes, customer, { request })
  await response.arrayBuffer()
  expect([request.name, response.status]).toEqual([request.name, 200])
  const { headers } = response
  const requestId = headers.get('x-request-id') ?? ''
  const reported = headers.get('x-tollgate-cost')
  // Speech has no such header: its headers go out before its end.
  if (reported !== null) expect(nanosOf(reported)).toBe(request.cost)
  completed.push({ requestId, cost: request.cost })
  charged.push({ customer, request })
}

async function sendToDying(customer: Customer, request: MediaRequest): Promise<void> {
  const response = await sendMedia(nodes, customer, { request })
  await readWhole(response)
  const requestId = response.headers.get('x-request-id') ?? ''
  expect(await findBooked(nodes.sql, [requestId])).toMatchObject([{ cost: request.cost }])
  charged.push({ customer, request })
}

/** Sends requests that the provider holds, and runs `end` once all of them have arrived there. */
async function hold(end: () => unknown, signal?: AbortSignal): Promise<Customer[]> {
  const waiting: Promise<unknown>[] = []
  const before = nodes.upstream.heldCount()
  const customers = await sendAll(heldRequests, async (customer, request) => {
    const answer = sendMedia(nodes, customer, { request, ...(signal && { signal }) })
    waiting.push(answer.then(readWhole, () => ''))
  })
  await eventually(() => nodes.upstream.heldCount() === before + heldRequests.length, 60_000)
  await end()
  await Promise.all(waiting)
  return customers
}

/** Sends the beginning of a form's file, and returns its open connection. */
async function beginUpload({ key }: Customer): Promise<RawClient> {
  const before = (await uploads()).length
  const client = await openRaw(nodes.at(0).url)
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'multipart/form-data; boundary=b',
    'content-length': '900000',
  }
  await client.send(rawRequest({ path: '/v1/audio/transcriptions', headers }))
  const disposition = 'content-disposition: form-data; name="file"; filename="a.wav"'
  await client.send(`--b\r\n${disposition}\r\n\r\n${'x'.repeat(5000)}`)
  await eventually(async () => (await uploads()).length === before + 1)
  return client
}

/** Clients leave in the middle of answers, and of an upload. */
async function cancel(): Promise<void> {
  const leaving = new AbortController()
  const customers = await hold(() => leaving.abort(), leaving.signal)
  for (const [index, request] of heldRequests.entries()) {
    const customer = customers[index]
    if (!customer) throw new Error('A request without a customer.')
    await eventually(async () => (await paidBy(customer)) > 0n)
    charged.push({ customer, request })
  }
  const client = await beginUpload(await nodes.customer(credit))
  client.close()
  await eventually(async () => (await uploads()).length === 0)
}

/** Returns the customers whose requests were open when the node was killed. */
async function kill(): Promise<Customer[]> {
  const uploading = await nodes.customer(credit)
  const open = await hold(async () => {
    using _client = await beginUpload(uploading)
    const before = await uploads()
    await nodes.at(0).stop('SIGKILL')
    expect(before.length).toBeGreaterThan(1)
    expect(await uploads()).toEqual(before)
  })
  await nodes.restart(0)
  expect(await uploads()).toEqual([])
  return [...open, uploading]
}

test('killed among images, sound, rankings and uploads, a node books each request once, and keeps no file', async () => {
  const open: Customer[] = []
  const broken: Customer[] = []
  for (let count = 0; count < kills; count += 1) {
    await sendAll(wholeRequests, complete)
    await sendAll(dyingRequests, sendToDying)
    const uploading = await nodes.customer(credit)
    const response = await sendMedia(nodes, uploading, { request: brokenUpload })
    expect(response.status).toBe(502)
    broken.push(uploading)
    await cancel()
    open.push(...(await kill()))
  }
  const settled = charged.length + broken.length
  await waitUntilBooked(nodes.sql, settled)
  for (const { customer, request } of charged) {
    const { events, doubled } = await sumsOf(nodes.sql, [customer])
    const paid = await paidBy(customer)
    expect([request.name, events, doubled, paid]).toEqual([request.name, 1, 0, request.cost])
  }
  for (const customer of [...open, ...broken]) expect(await paidBy(customer)).toBe(0n)
  const orphans = await sumsOf(nodes.sql, open)
  // An upload that did not arrive is no attempt.
  expect(orphans).toMatchObject({ events: kills * heldRequests.length, doubled: 0 })
  expect(orphans).toMatchObject({ orphans: orphans.events, chargedOrphans: 0 })
  await expectSoundLedger(nodes.sql, { completed })
  await nodes.at(0).stop()
  const [{ leases }] =
    await nodes.sql`select count(*)::int as leases from credit_lease where state = 'active'`
  expect(leases).toBe(0)
  expect(await uploads()).toEqual([])
  const audit = await runCommand('audit', { DATABASE_URL: nodes.postgres.url })
  expect(audit).toMatchObject({ code: 0, err: '' })
})
