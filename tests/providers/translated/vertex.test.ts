import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { Json } from '../conformance/fixture'
import { sendRaw, messages, untilNoticed } from '../../harness/http'
import { findBooked } from '../../harness/ledger'
import { parseResponse } from '../../harness/raw-client'
import { upstreamSecret } from '../../harness/server'
import { eventsOf, openFront, type Front } from './front'

const gemini = 'vertex/gemini-3.5-flash'
const claude = 'vertex/claude-sonnet-4-6'
const spoken = 'vertex/gemini-2.5-flash-tts'
const llama = 'vertex/meta/llama-3.3-70b-instruct-maas'

const geminiAnswer = () =>
  eventsOf({
    candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 2, totalTokenCount: 12 },
  })
const claudeEvents: Json[] = [
  {
    type: 'message_start',
    message: { id: 'm', content: [], usage: { input_tokens: 10, output_tokens: 1 } },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } },
]
const claudeEnd: Json[] = [
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
  { type: 'message_stop' },
]

const bytes = async (events: Json[]) => new Uint8Array(await eventsOf(...events).arrayBuffer())

describe('a service account', () => {
  let front: Front
  let folder: string
  let given = 0
  let tokenStatus = 200
  const granted = () =>
    Response.json(
      { access_token: `ya29.token-${(given += 1)}`, expires_in: 3600 },
      { status: tokenStatus },
    )
  /** Answers of the models; tokens are given all the same. */
  const answerBy = (models: Front['answer']) => {
    front.answer = (request) => (request.path === '/token' ? granted() : models(request))
  }
  const modelRequests = () => front.requests.filter(({ path }) => path !== '/token')
  const bearer = () => modelRequests().map(({ headers }) => headers.get('authorization'))

  beforeAll(async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const keyFile = {
      type: 'service_account',
      project_id: 'p-1',
      private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
      client_email: 'gate@p-1.iam.gserviceaccount.com',
    }
    folder = await mkdtemp(join(tmpdir(), 'vertex-'))
    const path = join(folder, 'key.json')
    await writeFile(path, JSON.stringify(keyFile))
    front = await openFront((url) => ({
      GOOGLE_APPLICATION_CREDENTIALS: path,
      VERTEX_TOKEN_URL: `${url}/token`,
      VERTEX_BASE_URL: `${url}/v1/projects/p-1/locations/global`,
    }))
    await front.price(gemini)
    await front.price(claude)
    await front.price(llama, {})
    await front.price(spoken, {
      category: 'speech',
      pricing: { input: 0.5, output: 0, audio_output: 10 },
    })
  })
  afterEach(() => front.reset())
  afterAll(async () => {
    await front[Symbol.asyncDispose]()
    await rm(folder, { recursive: true })
  })

  test('concurrent requests share one token for Gemini', async () => {
    answerBy(geminiAnswer)
    const answers = await Promise.all(Array.from({ length: 5 }, () => front.chat(gemini)))
    expect(front.requests.filter(({ path }) => path === '/token')).toHaveLength(1)
    expect(bearer()).toEqual(Array<string>(5).fill('Bearer ya29.token-1'))
    expect(modelRequests()[0]?.headers.get('x-goog-api-key')).toBeNull()
    expect(modelRequests()[0]?.path).toBe(
      '/v1/projects/p-1/locations/global/publishers/google/models/gemini-3.5-flash:streamGenerateContent?alt=sse',
    )
    for (const answer of answers) {
      expect(answer.body).toMatchObject({ choices: [{ message: { content: 'Hi' } }] })
      expect((await front.booked(answer)).cost).toBe(18_000n)
    }
    const [token] = front.requests
    expect(token?.text).toMatch(
      /^grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&/,
    )
  })

  test('a token that is rejected before its end is replaced, once', async () => {
    answerBy(({ headers }) =>
      headers.get('authorization') === 'Bearer ya29.token-1'
        ? Response.json({ error: { code: 401, status: 'UNAUTHENTICATED' } }, { status: 401 })
        : geminiAnswer(),
    )
    const answer = await front.chat(gemini)
    expect([answer.status, bearer()]).toEqual([200, ['Bearer ya29.token-1', 'Bearer ya29.token-2']])
    expect((await front.booked(answer)).cost).toBe(18_000n)
  })

  test('Claude has its own format there, without the model in the body', async () => {
    answerBy(() => eventsOf(...claudeEvents, ...claudeEnd))
    const answer = await front.chat(claude)
    expect(answer.body).toMatchObject({ choices: [{ message: { content: 'Hi' } }] })
    const [request] = modelRequests()
    expect(request?.path).toEndWith(
      '/publishers/anthropic/models/claude-sonnet-4-6:streamRawPredict',
    )
    expect(request?.body).toMatchObject({ anthropic_version: 'vertex-2023-10-16' })
    expect(request?.body).not.toHaveProperty('model')
    expect((await front.booked(answer)).cost).toBe(18_000n)
  })

  test('Gemini speaks there with the account’s token, at the price of sound', async () => {
    const data = Buffer.alloc(480, 7).toString('base64')
    const inlineData = { mimeType: 'audio/L16;codec=pcm;rate=24000', data }
    answerBy(() =>
      eventsOf({
        candidates: [{ content: { parts: [{ inlineData }] }, finishReason: 'STOP' }],
        usageMetadata: { promptTokenCount: 4, candidatesTokenCount: 25, totalTokenCount: 29 },
      }),
    )
    const fields = { input: 'Hello', voice: 'Kore', response_format: 'pcm' }
    const answer = await front.post('/v1/audio/speech', { model: spoken, ...fields })
    expect(answer.status).toBe(200)
    const [request] = modelRequests()
    expect(request?.path).toBe(
      '/v1/projects/p-1/locations/global/publishers/google/models/gemini-2.5-flash-tts:streamGenerateContent?alt=sse',
    )
    expect(request?.headers.get('authorization')).toStartWith('Bearer ya29.token-')
    expect(request?.body).toMatchObject({ generationConfig: { responseModalities: ['AUDIO'] } })
    // 4 tokens at 500 and 25 at 10,000 nano-dollars.
    expect((await front.booked(answer)).cost).toBe(252_000n)
  })

  test('the models of other vendors are relayed', async () => {
    answerBy(() =>
      eventsOf(
        { id: 'x', choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: 'stop' }] },
        { choices: [], usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 } },
        '[DONE]',
      ),
    )
    const answer = await front.stream(llama)
    expect([answer.content, answer.isDone]).toEqual(['Hi', true])
    expect(modelRequests()[0]).toMatchObject({
      path: '/v1/projects/p-1/locations/global/endpoints/openapi/chat/completions',
      body: { model: 'meta/llama-3.3-70b-instruct-maas' },
    })
    expect((await front.booked(answer)).cost).toBe(18_000n)
  })

  test('S01: a client that disconnects pays for the whole, read to its last event', async () => {
    const rest = Promise.withResolvers<void>()
    const [first, last] = [await bytes(claudeEvents), await bytes(claudeEnd)]
    answerBy(
      () =>
        new Response(
          new ReadableStream<Uint8Array>({
            async start(controller) {
              controller.enqueue(first)
              await rest.promise
              // The connection stays open.
              controller.enqueue(last)
            },
          }),
          { headers: { 'content-type': 'text/event-stream' } },
        ),
    )
    const body = { model: claude, messages, stream: true }
    using client = await sendRaw(front.gateway, { key: front.customer.key, body })
    await client.until((received) => received.includes('"Hi"'))
    const head = parseResponse(client.read())?.headers ?? []
    client.close()
    await untilNoticed(front.gateway)
    rest.resolve()
    const id = head.find(([name]) => name === 'x-request-id')?.[1] ?? ''
    const [event] = await findBooked(front.sql, [id])
    expect(event).toMatchObject({ outcome: 'cancelled', estimated: false, cost: 18_000n })
  })

  test('embeddings: five texts a request, counted by each', async () => {
    const model = 'vertex/text-embedding-005'
    await front.price(model, { category: 'embedding' })
    answerBy(({ body }) => {
      const instances = Array.isArray(body['instances']) ? body['instances'] : []
      const one = { embeddings: { values: [1, 2], statistics: { token_count: 3 } } }
      return Response.json({ predictions: instances.map(() => one) })
    })
    const input = Array.from({ length: 7 }, (_, index) => `text ${index}`)
    const answer = await front.post('/v1/embeddings', { model, input })
    expect(answer.body).toMatchObject({ usage: { prompt_tokens: 21 } })
    expect(modelRequests()).toHaveLength(2)
    expect(modelRequests()[0]?.path).toEndWith(
      '/publishers/google/models/text-embedding-005:predict',
    )
    expect((await front.booked(answer)).cost).toBe(21_000n)
  })

  test('rejected a token is not the caller’s fault', async () => {
    answerBy(() =>
      Response.json({ error: { code: 401, status: 'UNAUTHENTICATED' } }, { status: 401 }),
    )
    tokenStatus = 400
    const answer = await front.chat(gemini)
    tokenStatus = 200
    expect([answer.status, answer.error['code']]).toEqual([502, 'provider_error'])
    expect(modelRequests()).toHaveLength(1)
    expect((await front.booked(answer)).cost).toBe(0n)
  })
})

test('a damaged key file is the connection’s fault, and the next one is tried', async () => {
  await using front = await openFront((url) => ({
    VERTEX_API_KEY: upstreamSecret,
    VERTEX_BASE_URL: `${url}/v1`,
  }))
  await front.price(gemini)
  await front.gateway.admin('POST', '/connections', {
    name: 'damaged',
    provider: 'vertex',
    api_key: '{"type":"service_account"}',
    endpoint_url: front.url,
    is_default: true,
  })
  front.answer = geminiAnswer
  expect((await front.chat(gemini)).status).toBe(200)
  const [own] = await front.sql`select id from connection where name = 'damaged'`
  expect(front.requests.map(({ path }) => path.slice(0, 4))).toEqual(['/v1/'])
  await front.gateway.admin('DELETE', `/connections/${own.id}`)
  const created = front.gateway.admin('POST', '/connections', {
    name: 'damaged',
    provider: 'vertex',
    api_key: '{"type":"service_account"}',
  })
  await expect(created).rejects.toThrow('400')
  front.reset()
})

test('an API key is sent as one, to the address that names no project', async () => {
  await using front = await openFront((url) => ({
    VERTEX_API_KEY: upstreamSecret,
    VERTEX_BASE_URL: `${url}/v1`,
  }))
  await front.price(gemini)
  front.answer = geminiAnswer
  const answer = await front.chat(gemini)
  expect(front.requests[0]?.path).toStartWith('/v1/publishers/google/models/gemini-3.5-flash:')
  expect(front.requests[0]?.headers.get('x-goog-api-key')).toBe(upstreamSecret)
  expect(front.requests[0]?.headers.get('authorization')).toBeNull()
  expect((await front.booked(answer)).cost).toBe(18_000n)
  front.reset()
})
