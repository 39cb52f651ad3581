import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { startCollector, type Collector } from './collector'
import { sendRequest, newChatClient, messages, type ChatClient } from '../../harness/http'
import { eventually } from '../../../server/testing/eventually'
import { startGateway, startRig, type Rig } from '../../harness/server'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const parentId = '00f067aa0ba902b7'
const preload = join(import.meta.dir, 'loaded.ts')
const loadedIn = (output: string) => /loaded: (\[.*\])/.exec(output)?.[1]

let rig: Rig
let collector: Collector
let own: ChatClient

beforeAll(async () => {
  collector = startCollector()
  rig = await startRig({
    preload,
    environment: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=of-the-collector',
      OTEL_SERVICE_NAME: 'gate',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
      OTEL_BSP_SCHEDULE_DELAY: '20',
      TRACE_UPSTREAMS: 'true',
      MINIMUM_BALANCE_USD: '0',
    },
  })
  own = await newChatClient(rig)
})
afterAll(async () => {
  await rig[Symbol.asyncDispose]()
  await collector[Symbol.asyncDispose]()
})

const idOf = ({ headers }: { headers: Headers }) => headers.get('x-request-id') ?? ''

async function traced(name: string, fields = {}, traceparent = `00-${traceId}-${parentId}-01`) {
  const body = { model: await rig.model(name), messages, ...fields }
  return sendRequest(rig.gateway, { key: own.customer.key, headers: { traceparent }, body })
}

const ofKind = (spans: Awaited<ReturnType<Collector['of']>>, kind: number) =>
  spans.filter((span) => span.kind === kind)
const server = 2
const client = 3

test('a request is a part of the trace it came with, and its attempt a part of it', async () => {
  const answer = await traced('ok')
  const spans = await collector.of(idOf(answer), 2)
  const [request] = ofKind(spans, server)
  const [attempt] = ofKind(spans, client)
  expect(request).toMatchObject({
    traceId,
    parentSpanId: parentId,
    name: 'POST /v1/chat/completions',
    status: 0,
    attributes: {
      'http.request.method': 'POST',
      'http.route': '/v1/chat/completions',
      'http.response.status_code': 200,
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'fake/ok',
      'gen_ai.response.model': 'fake/ok',
      'gen_ai.usage.input_tokens': 2,
      'gen_ai.usage.output_tokens': 10,
      'enduser.id': own.customer.userId,
    },
  })
  expect(attempt).toMatchObject({
    traceId,
    parentSpanId: request?.spanId,
    name: 'chat ok',
    status: 0,
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'fake',
      'gen_ai.request.model': 'ok',
      'gen_ai.usage.input_tokens': 2,
      'gen_ai.usage.output_tokens': 10,
    },
  })
  expect(rig.upstream.requests().at(-1)?.headers['traceparent']).toBe(
    `00-${traceId}-${attempt?.spanId}-01`,
  )
  expect(collector.resource()).toMatchObject({
    'service.name': 'gate',
    'deployment.environment.name': 'test',
  })
  expect(collector.headers().get('x-collector-key')).toBe('of-the-collector')
})

test('a stream is traced to its end', async () => {
  const answer = await traced('ok', { stream: true })
  const spans = await collector.of(idOf(answer), 2)
  const [request] = ofKind(
    spans.filter(({ attributes }) => attributes['tollgate.streamed']),
    server,
  )
  expect(request?.attributes).toMatchObject({
    'http.response.status_code': 200,
    'gen_ai.usage.output_tokens': 10,
    'gen_ai.response.time_to_first_chunk': expect.any(Number),
  })
})

test.each(['/v1/chat/completions/', '/v1/%63hat/completions'])(
  'a request to a model is traced for every spelling of its path: %s',
  async (path) => {
    const body = { model: await rig.model('ok'), messages }
    const headers = { traceparent: `00-${traceId}-${parentId}-01` }
    const answer = await sendRequest(rig.gateway, { path, key: own.customer.key, headers, body })
    const spans = (await collector.of(idOf(answer), 2)).filter(
      ({ attributes }) => attributes['tollgate.request_id'] === idOf(answer),
    )
    expect(spans).toHaveLength(1)
    expect(spans[0]).toMatchObject({
      traceId,
      name: 'POST /v1/chat/completions',
      attributes: { 'http.route': '/v1/chat/completions', 'http.response.status_code': 200 },
    })
  },
)

test('a failure is in error, with its code; a caller’s mistake is not', async () => {
  const other = '5bf92f3577b34da6a3ce929d0e0e4736'
  const failed = await traced('status-500', {}, `00-${other}-${parentId}-01`)
  const spans = await collector.of(idOf(failed), 2)
  expect(ofKind(spans, server)[0]).toMatchObject({
    status: 2,
    attributes: { 'http.response.status_code': 502, 'error.type': 'provider_error' },
  })
  expect(ofKind(spans, client)[0]).toMatchObject({
    status: 2,
    attributes: { 'error.type': 'provider_error' },
  })
  const body = { model: 'fake/nobody-knows', messages }
  const refused = await sendRequest(rig.gateway, { key: own.customer.key, body })
  const [span] = await collector.of(idOf(refused), 1)
  expect(span).toMatchObject({ status: 0, attributes: { 'error.type': 'model_not_found' } })
  expect(JSON.stringify(span)).not.toContain('nobody-knows')
  const unknown = await sendRequest(rig.gateway, { key: 'sk-tg-unknown', body })
  const [stranger] = await collector.of(idOf(unknown), 1)
  expect(stranger?.attributes).toMatchObject({ 'http.response.status_code': 401 })
})

test('an invalid parent begins a trace of its own; an untraced one is respected', async () => {
  const invalid = await traced('ok', {}, `00-${traceId}-${parentId}-01-more`)
  const [span] = ofKind(await collector.of(idOf(invalid), 2), server)
  expect(span?.traceId).not.toBe(traceId)
  expect(span?.parentSpanId).toBe('')
  const silent = await traced('ok', {}, `00-${traceId}-${parentId}-00`)
  const later = await traced('ok')
  await eventually(() =>
    collector.spans().some(({ attributes }) => attributes['tollgate.request_id'] === idOf(later)),
  )
  expect(collector.text()).not.toContain(idOf(silent))
  expect(rig.upstream.requests().at(-2)?.headers['traceparent']).toBeUndefined()
})

test('a collector that never answers delays neither requests nor a stop', async () => {
  await using dead = startCollector(() => new Promise(() => undefined))
  await using gateway = await startGateway({
    environment: {
      OTEL_EXPORTER_OTLP_ENDPOINT: dead.url,
      OTEL_BSP_SCHEDULE_DELAY: '10',
      OTEL_BSP_MAX_QUEUE_SIZE: '10',
      OTEL_BSP_EXPORT_TIMEOUT: '200',
    },
  })
  const { client: openai } = await gateway.customer()
  const chat = { model: 'sandbox/echo', messages: [{ role: 'user' as const, content: 'Hello!' }] }
  const pending = Array.from({ length: 40 }, () => openai.chat.completions.create(chat))
  expect(await Promise.all(pending)).toHaveLength(40)
  await eventually(() => dead.text() !== '')
  expect(await gateway.stop()).toBe(0)
})

test('loads the libraries of metrics and traces only where they are used', async () => {
  await using plain = await startGateway({ preload })
  await plain.stop()
  expect(loadedIn(plain.output())).toBe('[]')
  await rig.gateway.stop()
  expect(loadedIn(rig.gateway.output())).toContain('@opentelemetry/sdk-trace')
  expect(loadedIn(rig.gateway.output())).not.toContain('prom-client')
})
