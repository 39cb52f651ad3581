import { createHash, createHmac } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { failureOf, hello } from '../conformance/fixture'
import { startGateway, upstreamSecret } from '../../harness/server'
import { frame, streamOf } from './aws-frames'
import { openFront, type Front, type ProviderRequest } from './front'

let front: Front

beforeAll(async () => {
  front = await openFront((url) => ({
    AWS_BEARER_TOKEN_BEDROCK: upstreamSecret,
    BEDROCK_BASE_URL: url,
  }))
})
afterEach(() => front.reset())
afterAll(() => front[Symbol.asyncDispose]())

const model = 'bedrock/us.amazon.nova-lite-v1:0'

const say = (text: string) =>
  frame('event', 'contentBlockDelta', { contentBlockIndex: 0, delta: { text } })
const stop = frame('event', 'messageStop', { stopReason: 'end_turn' })
const usage = { inputTokens: 1000, outputTokens: 50, totalTokens: 1050 }
const metadata = frame('event', 'metadata', { usage, metrics: { latencyMs: 1 } })

test('a whole answer, of a stream that was collected; its usage comes after the stop', async () => {
  front.answer = streamOf(say('Grüezi '), say('🍐'), stop, metadata)
  const { response, data } = await front.customer.client.chat.completions
    .create({ model, messages: hello, max_tokens: 700 })
    .withResponse()
  expect(data).toMatchObject({
    model,
    choices: [{ message: { content: 'Grüezi 🍐' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1000, completion_tokens: 50, total_tokens: 1050 },
  })
  // 0.06 and 0.24 USD per million tokens.
  expect(response.headers.get('x-tollgate-cost')).toBe('0.000072')
})

test('nothing but the request goes to the provider', async () => {
  front.answer = streamOf(say('Hi'), stop, metadata)
  await front.customer.client.chat.completions.create({ model, messages: hello, max_tokens: 7 })
  const [request] = front.requests
  expect(request?.path).toBe('/model/us.amazon.nova-lite-v1%3A0/converse-stream')
  expect(request?.headers.get('authorization')).toBe(`Bearer ${upstreamSecret}`)
  expect(request?.headers.get('accept')).toBe('application/vnd.amazon.eventstream')
  expect(request?.body).toEqual({
    messages: [{ role: 'user', content: [{ text: 'Say something.' }] }],
    inferenceConfig: { maxTokens: 7 },
  })
})

test('a stream, with its usage at the end', async () => {
  front.answer = streamOf(say('a'), say('b'), stop, metadata)
  const stream = await front.customer.client.chat.completions.create({
    model,
    messages: hello,
    stream: true,
    stream_options: { include_usage: true },
  })
  const chunks = await Array.fromAsync(stream)
  expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe('ab')
  expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 1050 } })
})

test.each([
  ['throttlingException', 503],
  ['internalServerException', 502],
])('%s as first event is %d', async (type, status) => {
  front.answer = streamOf(frame('exception', type, { message: 'Because.' }))
  const request = front.customer.client.chat.completions.create({
    model,
    messages: hello,
    stream: true,
  })
  const failure = await failureOf(request)
  expect(failure).toMatchObject({ status, code: 'provider_error' })
})

test.each([
  ['cut inside a frame', () => streamOf(say('a'), say('b').subarray(0, 20))()],
  ['cut before its stop', () => streamOf(say('a'))()],
  ['with a wrong checksum', () => streamOf(say('a'), say('b').fill(0, 12, 16))()],
])('an answer %s is rejected', async (_what, broken) => {
  front.answer = broken
  const failure = await failureOf(
    front.customer.client.chat.completions.create({ model, messages: hello }),
  )
  expect(failure).toMatchObject({ status: 502, code: 'provider_error' })
})

test('an error in its own format is returned in the client’s', async () => {
  front.answer = () =>
    Response.json({ message: 'Input is too long for requested model.' }, { status: 400 })
  const failure = await failureOf(
    front.customer.client.chat.completions.create({ model, messages: hello }),
  )
  expect(failure).toMatchObject({ status: 400, code: 'context_length_exceeded' })
})

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()

/** The signature that AWS would expect of a request, by its own description. */
function expectedSignature({ path, headers, text }: ProviderRequest, secretKey: string): string {
  const authorization = headers.get('authorization') ?? ''
  const [, scope = '', names = ''] =
    /Credential=[^/]+\/([^,]+), SignedHeaders=([^,]+)/.exec(authorization) ?? []
  const encoded = encodeURIComponent(path).replaceAll('%2F', '/')
  const lines = names.split(';').map((name) => `${name}:${headers.get(name)}`)
  const canonical = ['POST', encoded, '', ...lines, '', names, sha256(text)].join('\n')
  const toSign = ['AWS4-HMAC-SHA256', headers.get('x-amz-date'), scope, sha256(canonical)]
  const key = scope.split('/').reduce<string | Buffer>(hmac, `AWS4${secretKey}`)
  return hmac(Buffer.from(key), toSign.join('\n')).toString('hex')
}

const secretKey = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'
const keyId = 'AKIAIOSFODNN7EXAMPLE'

test.each([
  ['us-east-1', { AWS_BEARER_TOKEN_BEDROCK: `${keyId}:${secretKey}` }],
  [
    'eu-west-1',
    {
      AWS_ACCESS_KEY_ID: keyId,
      AWS_SECRET_ACCESS_KEY: secretKey,
      AWS_SESSION_TOKEN: 'session+token/==',
      AWS_REGION: 'eu-west-1',
    },
  ],
])('a pair of keys signs for %s, and does not leave', async (region, keys) => {
  await using signing = await startGateway({
    environment: {
      ...keys,
      BEDROCK_BASE_URL: front.url,
    },
  })
  signing.recorder.canary(secretKey)
  const { client } = await signing.customer()
  front.answer = streamOf(say('Hi'), stop, metadata)
  await client.chat.completions.create({ model, messages: hello })
  const [request] = front.requests
  if (!request) throw new Error('Nothing was sent.')
  const authorization = request.headers.get('authorization')
  const scope = `\\d{8}/${region}/bedrock/aws4_request, `
  expect(authorization).toMatch(new RegExp(`^AWS4-HMAC-SHA256 Credential=${keyId}/${scope}`))
  const session = 'AWS_SESSION_TOKEN' in keys ? keys.AWS_SESSION_TOKEN : null
  expect(request.headers.get('x-amz-security-token')).toBe(session)
  expect(authorization).toEndWith(`Signature=${expectedSignature(request, secretKey)}`)
  for (const value of request.headers.values()) expect(value).not.toContain(secretKey)
  signing.recorder.verify()
})
