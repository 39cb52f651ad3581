import { expect, test } from 'bun:test'
import { upstreamSecret } from '../../harness/server'
import { errorOf, type Fixture, type Json } from './fixture'

/** Models of one kind, and the endpoint that calls them. */
export interface KindOfModels {
  path: string
  /** The fields of such a model, at a price. */
  fields: Json
  /** The id of one that is there. */
  model: string
  /** A body without its model. */
  body: Json
}

/** The settings of a gateway whose provider `anthropic` has a key. */
export const anthropicEnvironment = { ANTHROPIC_API_KEY: upstreamSecret }

/** Bodies of endpoints that call models of a kind of their own. */
const bodies: Readonly<Record<string, Json>> = {
  '/v1/chat/completions': { messages: [{ role: 'user', content: 'a' }] },
  '/v1/embeddings': { input: 'a' },
  '/v1/moderations': { input: 'a' },
  '/v1/rerank': { query: 'a', documents: ['a'] },
  '/v1/audio/speech': { input: 'a', voice: 'alloy' },
  '/v1/images/generations': { prompt: 'a' },
}

/**
 * Declares the tests that models of a kind are called at its endpoint alone; `open` returns what they run at. Its
 * gateway has `anthropicEnvironment`.
 */
export function testSeparateKinds(open: () => Fixture, kind: KindOfModels): void {
  const { path, fields, model, body } = kind
  const post = async (endpoint: string, sent: Json) => {
    const response = await open().post(endpoint, sent)
    return { status: response.status, error: await errorOf(response) }
  }
  const unsupported = {
    status: 400,
    error: { param: 'model', details: { issue: 'unsupported_by_model' } },
  }

  test('models of other kinds are not called, and those of this kind are not at other endpoints', async () => {
    const chat = await open().model('say', { upstream_model: 'ok' })
    expect(await post(path, { model: chat, ...body })).toMatchObject(unsupported)
    const others = Object.entries(bodies).filter(([endpoint]) => endpoint !== path)
    expect(others).toHaveLength(Object.keys(bodies).length - 1)
    for (const [endpoint, sent] of others)
      expect(await post(endpoint, { model, ...sent })).toMatchObject(unsupported)
  })

  test('a provider whose format lacks the endpoint is not called', async () => {
    const id = await open().addModel('anthropic/other-kind', fields)
    expect(await post(path, { model: id, ...body })).toMatchObject(unsupported)
  })
}
