import { expect, test } from 'bun:test'
import { answer } from '.'

const request = (body: object) =>
  answer({ path: '/embeddings', body, signal: new AbortController().signal })

const read = async (response: Response) => JSON.parse(await response.text())

async function vectors(fields: object): Promise<number[][]> {
  const { data } = await read(request({ model: 'embedding', ...fields }))
  return data.map(({ embedding }: { embedding: number[] }) => embedding)
}

const norm = (vector: readonly number[]) => Math.hypot(...vector)

test('is a unit vector of 256 numbers that depends on the text alone', async () => {
  const [a, b, again] = await vectors({ input: ['a', 'b', 'a'] })
  expect(a).toHaveLength(256)
  expect(norm(a ?? [])).toBeCloseTo(1, 6)
  expect(again).toEqual(a)
  expect(b).not.toEqual(a)
})

test('base64 holds the same little-endian floats', async () => {
  const body = await read(request({ model: 'embedding', input: 'a', encoding_format: 'base64' }))
  const bytes = Buffer.from(body.data[0].embedding, 'base64')
  const floats = Array.from({ length: 256 }, (_, index) => bytes.readFloatLE(index * 4))
  expect([floats]).toEqual(await vectors({ input: 'a' }))
  expect(body.usage).toEqual({ prompt_tokens: 1, total_tokens: 1 })
})

test.each([1, 2, 17, 255])('%p dimensions are its beginning, of length 1 again', async (size) => {
  const [full = []] = await vectors({ input: 'a' })
  const [short = []] = await vectors({ input: 'a', dimensions: size })
  const beginning = full.slice(0, size)
  expect(short).toHaveLength(size)
  for (const [index, value] of short.entries()) {
    expect(value).toBeCloseTo((beginning[index] ?? 0) / norm(beginning), 5)
  }
})

test.each([
  [{ input: [1, 2] }, 'input'],
  [{ input: '' }, 'input'],
  [{ input: 'a', dimensions: 257 }, 'dimensions'],
  [{ input: 'a', encoding_format: 'hex' }, 'encoding_format'],
])('%j is rejected', async (fields, param) => {
  const response = request({ model: 'embedding', ...fields })
  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject({ error: { param } })
})

test('only the model that embeds does', () => {
  expect(request({ model: 'echo', input: 'a' }).status).toBe(404)
})

test('lists the models', async () => {
  const signal = new AbortController().signal
  const { data } = await read(answer({ path: '/models', body: undefined, signal }))
  const ids = data.map(({ id }: { id: string }) => id)
  const others = ['embedding', 'moderation', 'rerank', 'speech', 'transcription', 'image']
  expect(ids).toEqual(['echo', 'lorem', 'tools', ...others])
})
