import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { isIdentifier } from '../../harness/account-identifiers'
import { call, completion, createFixture, idIn } from '../../harness/byok'
import { sendRequest, type Json } from '../../harness/http'
import { newOrganization } from '../../harness/organization'
import { upstreamSecret, type Customer } from '../../harness/server'
import { isJson } from '../../providers/conformance/fixture'
import { openFront, type Front } from '../../providers/translated/front'

const hello = [{ role: 'user', content: 'Hello' }]
const chat = { path: '/v1/chat/completions', body: { messages: hello } }
const messages = { path: '/v1/messages', body: { messages: hello, max_tokens: 10 } }
const responses = { path: '/v1/responses', body: { input: 'Hello' } }
const text = { path: '/v1/completions', body: { prompt: 'Hello', max_tokens: 10 } }
const embed = { path: '/v1/embeddings', body: { input: 'Hello' } }
const draw = { path: '/v1/images/generations', body: { prompt: 'Hello' } }
const named = { user: 'user-1', safety_identifier: 'user-1', prompt_cache_key: 'user-1' }
const mark = { prompt_cache_key: 'user-1' }
const endUser = { metadata: { user_id: 'user-1' } }

interface Row {
  path: string
  body: Json
  model: string
  /** What a caller writes to be known by. */
  written: Json
  /** What its provider always gets, written or not. */
  always: string[]
}

const rows: Record<string, Row> = {
  'OpenAI, a chat': {
    ...chat,
    model: 'openai/one',
    written: named,
    always: ['safety_identifier', 'prompt_cache_key'],
  },
  'OpenAI, a legacy completion': {
    ...text,
    model: 'openai/text',
    written: named,
    always: ['user'],
  },
  'OpenAI, images': { ...draw, model: 'openai/draw', written: named, always: ['user'] },
  'OpenAI, embeddings': { ...embed, model: 'openai/embed', written: named, always: ['user'] },
  'OpenAI, a Response': {
    ...responses,
    model: 'openai/one',
    written: named,
    always: ['safety_identifier', 'prompt_cache_key'],
  },
  'OpenAI, a message': {
    ...messages,
    model: 'openai/one',
    written: endUser,
    always: ['safety_identifier', 'prompt_cache_key'],
  },
  'Anthropic, a message': {
    ...messages,
    model: 'anthropic/one',
    written: endUser,
    always: ['metadata.user_id'],
  },
  'Anthropic, a chat': {
    ...chat,
    model: 'anthropic/one',
    written: named,
    always: ['metadata.user_id'],
  },
  'Anthropic, a Response': {
    ...responses,
    model: 'anthropic/one',
    written: named,
    always: ['metadata.user_id'],
  },
  'Anthropic, a legacy completion': {
    ...text,
    model: 'anthropic/one',
    written: {},
    always: ['metadata.user_id'],
  },
  'Azure, a chat': {
    ...chat,
    model: 'azure/gpt-4.1',
    written: named,
    always: ['user', 'prompt_cache_key'],
  },
  'Azure, a Response': {
    ...responses,
    model: 'azure/gpt-4.1',
    written: named,
    always: ['user', 'prompt_cache_key'],
  },
  'Azure, a model of another maker': {
    ...chat,
    model: 'azure/llama',
    written: { user: 'user-1' },
    always: [],
  },
  'Bedrock, a chat': {
    ...chat,
    model: 'bedrock/one',
    written: {},
    always: ['requestMetadata.end_user'],
  },
  'Mistral, a chat': { ...chat, model: 'mistral/one', written: mark, always: ['prompt_cache_key'] },
  'xAI, a chat': { ...chat, model: 'xai/one', written: named, always: ['user'] },
  'DeepSeek, a chat': { ...chat, model: 'deepseek/one', written: named, always: ['user_id'] },
  'Moonshot, a chat': {
    ...chat,
    model: 'moonshot/one',
    written: named,
    always: ['safety_identifier', 'prompt_cache_key'],
  },
  'Z.ai, a chat': { ...chat, model: 'zai/one', written: named, always: ['user_id'] },
  'Groq, a chat': { ...chat, model: 'groq/one', written: { user: 'user-1' }, always: ['user'] },
  'Fireworks, a chat': {
    ...chat,
    model: 'fireworks/one',
    written: named,
    always: ['user', 'prompt_cache_isolation_key'],
  },
  'OpenRouter, a chat': { ...chat, model: 'openrouter/one', written: named, always: ['user'] },
  'Cerebras, a chat': { ...chat, model: 'cerebras/one', written: named, always: ['user'] },
  'DeepInfra, a chat': { ...chat, model: 'deepinfra/one', written: named, always: ['user'] },
  'Gemini, which has no such field': { ...chat, model: 'google/one', written: {}, always: [] },
  'an engine of unknown kind': { ...chat, model: 'engine/one', written: named, always: [] },
  'an engine whose operator named its field': {
    ...chat,
    model: 'vllm/one',
    written: named,
    always: ['cache_salt'],
  },
}

/** The categories of models that are not for chats. */
const categories = new Map<string | undefined, string>([
  ['text', 'completion'],
  ['embed', 'embedding'],
  ['draw', 'image'],
])

const openAiAlike = [
  'openai',
  'mistral',
  'xai',
  'deepseek',
  'moonshot',
  'zai',
  'groq',
  'fireworks',
  'openrouter',
  'cerebras',
  'deepinfra',
]

describe('finding S26: on the operator’s credential a provider knows', () => {
  let front: Front
  let customers: [Customer, Customer]

  beforeAll(async () => {
    front = await openFront((url) => ({
      ...Object.fromEntries(
        openAiAlike.flatMap((key) => [
          [`${key.toUpperCase()}_API_KEY`, upstreamSecret],
          [`${key.toUpperCase()}_BASE_URL`, url],
        ]),
      ),
      ANTHROPIC_API_KEY: upstreamSecret,
      ANTHROPIC_BASE_URL: url,
      GEMINI_API_KEY: upstreamSecret,
      GOOGLE_BASE_URL: url,
      AZURE_API_KEY: upstreamSecret,
      AZURE_BASE_URL: `${url}/openai/v1`,
      AWS_BEARER_TOKEN_BEDROCK: upstreamSecret,
      BEDROCK_BASE_URL: url,
    }))
    const { admin, customer } = front.gateway
    for (const [key, options] of [
      ['engine', {}],
      ['vllm', { identifiers: ['cache_salt'] }],
    ] as const) {
      const provider = { key, name: key, adapter: 'openai', base_url: front.url }
      await admin('POST', '/providers', provider)
      const connection = { name: key, provider: key, api_key: upstreamSecret, options }
      await admin('POST', '/connections', connection)
    }
    const models = new Set(Object.values(rows).map(({ model }) => model))
    for (const model of models) {
      const category = categories.get(model.split('/')[1]) ?? 'chat'
      const isKnown = model === 'azure/gpt-4.1'
      await front.price(model, isKnown ? undefined : { name: model, category })
    }
    customers = [await customer(), await customer()]
  })
  afterEach(() => front.reset())
  afterAll(() => front[Symbol.asyncDispose]())

  /** What reached the provider of a customer's request. */
  async function sent({ path, body, model }: Row, { key }: Customer, fields: Json): Promise<Json> {
    front.requests.length = 0
    await sendRequest(front.gateway, { path, key, body: { model, ...body, ...fields } })
    const parsed: unknown = JSON.parse(front.requests[0]?.text ?? 'null')
    if (!isJson(parsed)) throw new Error('the provider was not asked')
    return parsed
  }

  test.each(Object.entries(rows))('each account by a name of its own: %s', async (_what, row) => {
    const { always, written } = row
    const [one, other] = customers
    const first = identifiersIn(await sent(row, one, {}))
    expect(Object.keys(first).toSorted()).toEqual(always.toSorted())
    expect(identifiersIn(await sent(row, one, {}))).toEqual(first)
    const others = identifiersIn(await sent(row, other, {}))
    for (const field of always) expect(others[field]).not.toBe(first[field])

    const theirs = await sent(row, one, written)
    expect(JSON.stringify(theirs)).not.toContain('user-1')
    const chosen = identifiersIn(theirs)
    expect(Object.keys(chosen)).toEqual(expect.arrayContaining(always))
    expect(identifiersIn(await sent(row, one, written))).toEqual(chosen)
    const samely = identifiersIn(await sent(row, other, written))
    expect(Object.keys(samely)).toEqual(Object.keys(chosen))
    for (const field of Object.keys(chosen)) expect(samely[field]).not.toBe(chosen[field])
    // Written by another, an account's own identifier is a name as any.
    const copied = Object.values(first)[0] ?? 'x'
    const forged: Json = JSON.parse(JSON.stringify(written).replaceAll('user-1', copied))
    const imitated = identifiersIn(await sent(row, other, forged))
    expect(Object.values(imitated)).not.toContain(copied)
  })

  test('nothing of a prompt that is counted', async () => {
    const counted = { path: '/v1/messages/count_tokens', body: { messages: hello } }
    const row = { ...counted, model: 'anthropic/one', written: {}, always: [] }
    const body = await sent(row, customers[0], endUser)
    expect(body).not.toHaveProperty('metadata')
  })

  test('the caller sees the names of a Response as it wrote them', async () => {
    const head = { id: 'resp_1', object: 'response', status: 'completed', output: [] }
    const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
    front.answer = ({ text: asked }) => {
      const request: Json = JSON.parse(asked)
      const { safety_identifier, prompt_cache_key, user = null } = request
      return Response.json({ ...head, usage, safety_identifier, prompt_cache_key, user })
    }
    const ask = (fields: Json) =>
      front.post(responses.path, { model: 'openai/one', ...responses.body, ...fields })
    expect((await ask(named)).body).toMatchObject(named)
    expect((await ask({})).body).toMatchObject({
      safety_identifier: null,
      prompt_cache_key: null,
      user: null,
    })
  })
})

/** The identifiers in a request, by the places where they are. */
function identifiersIn(body: Json): Record<string, string> {
  const found: Record<string, string> = {}
  for (const [name, value] of Object.entries(body)) {
    if (isIdentifier(value)) found[name] = value
    if (!isJson(value)) continue
    for (const [inner, text] of Object.entries(value)) {
      if (isIdentifier(text)) found[`${name}.${inner}`] = text
    }
  }
  return found
}

describe('finding S26: on the credential of an organization, and on the caller’s own', () => {
  test('members have names of their own, and an owner’s request goes on as it was written', async () => {
    await using fixture = await createFixture()
    const { gateway, upstream } = fixture
    const { owner, id, member } = await newOrganization(fixture)
    const own = await fixture.newCustomer()
    const connection = {
      name: 'Ours',
      provider: 'openai',
      api_key: 'sk-ours-0123456789',
      endpoint_url: `${upstream.url}/v1`,
    }
    const ofOrganization = { scope: 'organization', organization_id: id }
    idIn(await call(gateway, owner, 'POST /connections', { ...connection, ...ofOrganization }))
    idIn(await call(gateway, own, 'POST /connections', connection))
    upstream.answer = () => completion()
    const ask = async (key: string) => {
      const body = { model: 'openai/gpt-4o', messages: hello, ...named }
      expect((await sendRequest(gateway, { key, body })).status).toBe(200)
      return upstream.requests.at(-1)?.body ?? {}
    }
    expect(await ask(own.key)).toEqual({ model: 'gpt-4o', messages: hello, ...named })
    const [one, other] = [await ask((await member()).key), await ask((await member()).key)]
    for (const field of Object.keys(named)) {
      expect(one[field]).toSatisfy(isIdentifier)
      expect(other[field]).toSatisfy(isIdentifier)
      expect(one[field]).not.toBe(other[field])
    }
  })
})
