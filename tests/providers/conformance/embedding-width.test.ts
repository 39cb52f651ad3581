import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { type Json } from '../../harness/http'
import { upstreamSecret } from '../../harness/server'
import { openFront, type Front } from '../translated/front'

let front: Front

const [openai, cohere] = ['openai/text-embedding-3-small', 'cohere/embed-v4.0']

beforeAll(async () => {
  front = await openFront((url) => ({
    OPENAI_API_KEY: upstreamSecret,
    OPENAI_BASE_URL: `${url}/v1`,
    COHERE_API_KEY: upstreamSecret,
    COHERE_BASE_URL: url,
  }))
})
afterEach(() => front.reset())
afterAll(() => front[Symbol.asyncDispose]())

const vectorOf = (width: number) => Array.from({ length: width }, (_, at) => at / 8)
const encode = (vector: number[]) =>
  Buffer.from(Float32Array.from(vector).buffer).toString('base64')

/** Answers with vectors of these widths, whatever was requested, in the format of the provider. */
function answerWith(widths: (inputs: number) => number[]) {
  front.answer = ({ body, path }) => {
    const inputs = body['input'] ?? body['texts']
    const vectors = widths(Array.isArray(inputs) ? inputs.length : 1).map(vectorOf)
    if (path === '/v2/embed') return Response.json({ embeddings: { float: vectors } })
    const isEncoded = body['encoding_format'] === 'base64'
    const data = vectors.map((vector, index) => ({
      object: 'embedding',
      index,
      embedding: isEncoded ? encode(vector) : vector,
    }))
    return Response.json({ object: 'list', data, usage: { prompt_tokens: 1, total_tokens: 1 } })
  }
}

const embed = (model: string, input: unknown, fields: Json = {}) =>
  front.post('/v1/embeddings', { model, input, ...fields })

const ways = [openai, cohere].flatMap((model) =>
  ['float', 'base64'].map((encoding_format): [string, string] => [model, encoding_format]),
)

test.each(ways)(
  'finding V15: %s, as %s: vectors of another width than requested are an error',
  async (model, encoding_format) => {
    answerWith(() => [768])
    const wrong = await embed(model, 'a', { dimensions: 256, encoding_format })
    expect([wrong.status, wrong.error.code]).toEqual([502, 'provider_error'])
    expect(wrong.error.message).toContain('768 numbers instead of 256')
    expect(await front.booked(wrong)).toMatchObject({ cost: 0n, outcome: 'provider_error' })

    answerWith(() => [8, 8, 5])
    const uneven = await embed(model, ['a', 'b', 'c'], { encoding_format })
    expect(uneven.status).toBe(502)

    answerWith(() => [256])
    const right = await embed(model, 'a', { dimensions: 256, encoding_format })
    expect(right.status).toBe(200)
  },
)

test('finding V15: parts of a long list have the same width', async () => {
  // Cohere takes 96 texts a request.
  answerWith((inputs) => Array.from({ length: inputs }, () => (inputs === 96 ? 8 : 5)))
  const texts = Array.from({ length: 100 }, (_, at) => `text ${at}`)
  const answer = await embed(cohere, texts)
  expect(front.requests).toHaveLength(2)
  expect([answer.status, answer.error.code]).toEqual([502, 'provider_error'])
  expect(await front.booked(answer)).toMatchObject({ cost: 0n })
})
