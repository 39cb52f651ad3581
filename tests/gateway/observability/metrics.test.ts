import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { SQL } from 'bun'
import { internalUrl, scrape, scrapeWhenBooked } from '../../harness/scrape'
import { openDatabase } from '../../harness/database'
import { sendRequest, newChatClient, messages, request, type ChatClient } from '../../harness/http'
import { eventually, eventuallyReads } from '../../../server/testing/eventually'
import { mediaRequests } from '../../harness/media'
import { openRaw, rawRequest } from '../../harness/raw-client'
import { startRig, type Rig } from '../../harness/server'
import { isDeep } from '../../../server/testing/depth'

let rig: Rig
let sql: SQL & AsyncDisposable
let url: string
let own: ChatClient

beforeAll(async () => {
  rig = await startRig({ environment: { METRICS_PORT: '0', MINIMUM_BALANCE_USD: '0' } })
  sql = await openDatabase(rig.gateway.dataDir)
  url = await internalUrl(rig.gateway)
  own = await newChatClient(rig)
})
afterAll(async () => {
  await sql[Symbol.asyncDispose]()
  await rig[Symbol.asyncDispose]()
})

const settled = () => scrapeWhenBooked(url)

const several = (count: number, one: () => Promise<unknown>) =>
  Promise.all(Array.from({ length: count }, one))

test('I12: requests, tokens and cost match the ledger, and the requests made', async () => {
  const before = await settled()
  await several(20, () => own.chat('ok'))
  await several(10, () => own.stream('ok'))
  await several(5, () => own.chat('status-500'))
  await several(3, () => own.stream('err-after-3'))
  const leaving = new AbortController()
  const left = await request(rig.gateway, {
    key: own.customer.key,
    body: { model: await rig.model('stall-after-2'), messages, stream: true },
    signal: leaving.signal,
  })
  await left.body?.getReader().read()
  // Those before it are answered, and may be settled a little later.
  const during = await eventuallyReads(
    () => scrape(url),
    ({ sum }) => sum('tollgate_holds') === 1,
  )
  expect(during.sum('tollgate_open_streams')).toBe(1)
  expect(during.sum('tollgate_lease_usd', { part: 'held' })).toBeGreaterThan(0)
  leaving.abort()
  const after = await settled()
  const grown = (name: string, labels?: Record<string, string>) =>
    after.sum(name, labels) - before.sum(name, labels)

  const of = (model: string, status: string) =>
    grown('tollgate_model_requests_total', { model: `fake/${model}`, status })
  expect(of('ok', 'success')).toBe(30)
  expect(of('status-500', 'error')).toBe(5)
  expect(of('err-after-3', 'error')).toBe(3)
  expect(of('stall-after-2', 'cancelled')).toBe(1)
  expect(grown('tollgate_model_request_duration_seconds_count', { model: 'fake/ok' })).toBe(30)
  expect(grown('tollgate_time_to_first_token_seconds_count', { model: 'fake/ok' })).toBe(10)
  expect(grown('tollgate_http_requests_total', { endpoint: 'chat_completions' })).toBe(39)
  expect(grown('tollgate_http_requests_total', { status: '502' })).toBe(5)
  expect(grown('tollgate_errors_total', { code: 'provider_error' })).toBe(8)
  expect(grown('tollgate_upstream_attempts_total', { outcome: 'ok' })).toBe(30)
  expect(grown('tollgate_overhead_seconds_count')).toBe(34)

  const [booked] = await sql`
    select sum(cost)::text as cost, sum(input_tokens + cached_input_tokens)::int as input,
      sum(output_tokens + reasoning_tokens)::int as output, count(*)::int as attempts
    from usage_event where state = 'settled'`
  const tokens = (kind: string) => after.sum('tollgate_tokens_total', { kind })
  expect(tokens('input') + tokens('cached_input')).toBe(booked.input)
  expect(tokens('output') + tokens('reasoning')).toBe(booked.output)
  expect(after.sum('tollgate_upstream_attempts_total')).toBe(booked.attempts)
  expect(Math.round(after.sum('tollgate_cost_usd_total') * 1e9)).toBe(Number(booked.cost))
  const [entries] = await sql`
    select -sum(amount)::bigint as spent from ledger_entry
    join ledger_transaction on ledger_transaction.id = transaction_id
    where kind = 'usage' and account_id = ${own.customer.userId}`
  expect(Number(entries.spent)).toBe(Number(booked.cost))
})

test('I17: the spent, held and free credit of each slice is its whole', async () => {
  const found = await settled()
  const part = (name: string) => Math.round(found.sum('tollgate_lease_usd', { part: name }) * 1e9)
  expect(part('held')).toBe(0)
  expect(part('spent') + part('free')).toBe(part('amount'))
  expect(found.sum('tollgate_leases')).toBeGreaterThan(0)
  expect(found.sum('tollgate_holds')).toBe(0)
})

if (isDeep)
  test('P04: names made up by callers add no series', async () => {
    const { key } = own.customer
    const make = async (at: number) => {
      await sendRequest(rig.gateway, { key, body: { model: `fake/made-up-${at}`, messages } })
      await sendRequest(rig.gateway, {
        key: `sk-tg-made-up-${at}`,
        body: { model: 'fake/ok', messages },
      })
      await sendRequest(rig.gateway, { path: `/made-up/${at}`, method: 'GET', key })
      await sendRequest(rig.gateway, { path: `/api/made-up-${at}`, method: 'GET', key })
    }
    await make(0)
    const before = await settled()
    for (let at = 1; at <= 1000; at += 50) {
      await Promise.all(Array.from({ length: 50 }, (_, step) => make(at + step)))
    }
    const after = await settled()
    expect(after.series.length).toBe(before.series.length)
    expect(after.text).not.toContain('made-up')
    const unasked = { model: 'none', status: 'error' }
    expect(
      after.sum('tollgate_model_requests_total', unasked) -
        before.sum('tollgate_model_requests_total', unasked),
    ).toBe(1000)
  }, 300_000)

test('images, sound and characters are counted by their model', async () => {
  const before = await settled()
  const media = mediaRequests(rig)
  for (const answer of [
    await media.draw(own.customer, 2),
    await media.draw(own.customer, 1),
    await media.transcribe(own.customer, 2.5),
    await media.speak(own.customer, 'Good morning 👋 you', { response_format: 'pcm' }),
  ])
    expect(answer.status).toBe(200)
  const after = await settled()
  const grown = (name: string, model: string) => {
    const labels = { model: `fake/${model}`, provider: 'fake' }
    return after.sum(name, labels) - before.sum(name, labels)
  }
  expect(grown('tollgate_images_total', 'draw-address')).toBe(3)
  expect(grown('tollgate_transcribed_seconds_total', 'hear-uncounted')).toBe(2.5)
  expect(grown('tollgate_speech_characters_total', 'by-character')).toBe(18)
  expect(grown('tollgate_speech_seconds_total', 'by-character')).toBe(0.4)
})

test('uploads are counted while they arrive, with their bytes, whether they are accepted or not', async () => {
  const before = await settled()
  const media = mediaRequests(rig)
  expect((await media.transcribe(own.customer, 10)).status).toBe(200)
  const form = { file: new File([''], 'talk.wav'), model: 'fake/hear-uncounted' }
  const path = '/v1/audio/transcriptions'
  const { key } = own.customer
  expect((await sendRequest(rig.gateway, { path, key, form })).status).toBe(400)
  const client = await openRaw(rig.gateway.url)
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'multipart/form-data; boundary=part',
  }
  const whole = rawRequest({ method: 'POST', path, headers, body: 'x'.repeat(1000) })
  await client.send(whole.slice(0, -500))
  await eventually(async () => (await scrape(url)).sum('tollgate_running_uploads') === 1)
  client.close()
  await eventually(async () => (await scrape(url)).sum('tollgate_running_uploads') === 0)
  const after = await settled()
  const grown = (outcome: string) =>
    after.sum('tollgate_uploads_total', { outcome }) -
    before.sum('tollgate_uploads_total', { outcome })
  expect([grown('ok'), grown('rejected')]).toEqual([1, 2])
  const bytes = after.sum('tollgate_upload_bytes_total') - before.sum('tollgate_upload_bytes_total')
  expect(bytes).toBeWithin(160_044 + 500, 163_000)
})

test('a rejection is counted by its limit', async () => {
  const plan = await rig.gateway.admin('POST', '/plans', { name: 'narrow', requests_per_minute: 2 })
  const { key } = await rig.gateway.customer({}, { plan_id: plan['id'] })
  const poor = await rig.gateway.customer({}, { credit: 0 })
  const body = { model: await rig.model('ok'), messages }
  for (let at = 0; at < 5; at++) await sendRequest(rig.gateway, { key, body })
  await sendRequest(rig.gateway, { key: poor.key, body })
  const found = await settled()
  expect(found.sum('tollgate_refused_total', { limit: 'requests' })).toBe(3)
  expect(found.sum('tollgate_refused_total', { limit: 'credit' })).toBe(1)
  expect(found.sum('tollgate_http_requests_total', { status: '429' })).toBe(3)
})

test('the internal listener reports the state of the process, and accepts nothing', async () => {
  expect(await (await fetch(`${url}/healthz`)).json()).toEqual({ status: 'ok' })
  expect(await (await fetch(`${url}/readyz`)).json()).toEqual({
    status: 'ready',
    checks: { database: true, journal: true, running: true },
  })
  expect((await fetch(`${url}/metrics`, { method: 'POST', body: 'x' })).status).toBe(405)
  expect((await fetch(`${url}/v1/models`)).status).toBe(404)
  expect((await fetch(`${url}/api/admin/users`)).status).toBe(404)
})

test('A06: the public port has no metrics', async () => {
  for (const path of ['/metrics', '/metrics/', '//metrics', '/v1/metrics', '/api/admin/metrics']) {
    const answer = await sendRequest(rig.gateway, { path, method: 'GET' })
    expect(answer.status).not.toBe(200)
    expect(answer.text).not.toContain('tollgate_')
  }
})

test('each request has a line of the log: client, request, result', async () => {
  const { headers } = await own.chat('ok')
  const id = headers.get('x-request-id') ?? ''
  const lines = () =>
    rig.gateway
      .output()
      .split('\n')
      .filter((line) => line.includes(id))
  await eventually(() => lines().length > 0)
  expect(lines().map((line) => JSON.parse(line))).toEqual([
    {
      level: 30,
      time: expect.any(Number),
      requestId: id,
      method: 'POST',
      path: '/v1/chat/completions',
      status: 200,
      ms: expect.any(Number),
      userId: own.customer.userId,
      model: 'fake/ok',
      provider: 'fake',
      inputTokens: expect.any(Number),
      outputTokens: expect.any(Number),
    },
  ])
})
