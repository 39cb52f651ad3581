import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import OpenAI7 from 'openai'
import OpenAI4 from 'openai-4'
import OpenAI5 from 'openai-5'
import OpenAI6 from 'openai-6'
import { vectorOf } from '../../harness/upstreams/embeddings'
import { createFixture, type Fixture } from './fixture'

let fixture: Fixture

beforeAll(async () => {
  fixture = await createFixture()
  for (const name of ['ok', 'tool-interleaved', 'tool-no-args', 'err-after-3', 'refusal']) {
    await fixture.model(name)
  }
  const pricing = { input: 1, output: 0 }
  await fixture.model('embeds', { upstream_model: 'ok', category: 'embedding', pricing })
  await fixture.model('judge', { upstream_model: 'ok', category: 'moderation', pricing })
  await fixture.addProvider('texts', { embeddings: { base64: false } })
  await fixture.addModel('texts/embed-floats-only', { category: 'embedding', pricing })
})
afterAll(() => fixture[Symbol.asyncDispose]())
afterEach(() => fixture.verify())

const options = () => ({
  apiKey: fixture.customer.key,
  baseURL: `${fixture.rig.gateway.url}/v1`,
  maxRetries: 0,
})

/** What the majors have in common here; their types are strangers to each other. */
interface Major {
  text: (model: string) => Promise<string | null | undefined>
  streamedText: (model: string) => Promise<string>
  calls: (model: string) => Promise<(string | undefined)[]>
  failure: (model: string) => Promise<unknown>
  completion: (model: string) => Promise<string | undefined>
  embedding: (model: string) => Promise<number[]>
  flags: (model: string | undefined) => Promise<boolean[]>
  model: (id: string) => Promise<string>
  models: () => Promise<string[]>
}

const messages = [{ role: 'user' as const, content: 'Say something.' }]

/** One body for all: each major is typed by its own package, and this is read four times. */
function speak(client: OpenAI4 | OpenAI5 | OpenAI6 | OpenAI7): Major {
  const { chat, completions, embeddings, moderations, models } = asNewest(client)
  const stream = async (model: string) => {
    let text = ''
    for await (const chunk of await chat.completions.create({ model, messages, stream: true })) {
      text += chunk.choices[0]?.delta.content ?? ''
    }
    return text
  }
  return {
    text: async (model) =>
      (await chat.completions.create({ model, messages })).choices[0]?.message.content,
    streamedText: stream,
    calls: async (model) => {
      const helper = helperOf(client).stream({ model, messages })
      const [choice] = (await helper.finalChatCompletion()).choices
      return (choice?.message.tool_calls ?? []).map((call) =>
        call.type === 'function' ? call.function.arguments : undefined,
      )
    },
    failure: (model) =>
      stream(model).then(
        () => undefined,
        (thrown: unknown) => thrown,
      ),
    completion: async (model) =>
      (await completions.create({ model, prompt: 'Go on.' })).choices[0]?.text,
    embedding: async (model) => [
      ...((await embeddings.create({ model, input: 'a' })).data[0]?.embedding ?? []),
    ],
    flags: async (model) => {
      const input = ['Good morning', 'Plain violence']
      const { results } = await moderations.create({ input, ...(model && { model }) })
      return results.map(({ flagged }) => flagged)
    },
    model: async (id) => (await models.retrieve(id)).id,
    models: async () => (await Array.fromAsync(await models.list())).map(({ id }) => id),
  }
}

// The calls used here have the same shape in every major; only the declarations differ.
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
const asNewest = (client: OpenAI4 | OpenAI5 | OpenAI6 | OpenAI7) => client as unknown as OpenAI7

/** Major 4 keeps its helpers under `beta`. */
function helperOf(client: OpenAI4 | OpenAI5 | OpenAI6 | OpenAI7): OpenAI7['chat']['completions'] {
  const { completions } = asNewest(client).chat
  if ('stream' in completions) return completions
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return (client as OpenAI4).beta.chat.completions as unknown as OpenAI7['chat']['completions']
}

const majors: [string, () => Major][] = [
  // It reads bodies through node streams of its own where it is given a `fetch`: it gets none.
  ['openai 4', () => speak(new OpenAI4(options()))],
  ['openai 5', () => speak(new OpenAI5({ ...options(), fetch: fixture.fetch }))],
  ['openai 6', () => speak(new OpenAI6({ ...options(), fetch: fixture.fetch }))],
  ['openai 7', () => speak(new OpenAI7({ ...options(), fetch: fixture.fetch }))],
]

const greeting = 'All is well at the fake provider today, thank you.'

describe.each(majors)('%s', (_name, major) => {
  test('chats, whole and streamed', async () => {
    expect(await major().text('fake/ok')).toBe(greeting)
    expect(await major().streamedText('fake/ok')).toBe(greeting)
  })

  test('R11 R12: its stream helper has every call whole', async () => {
    expect(
      (await major().calls('fake/tool-interleaved')).map((text) => JSON.parse(text ?? '')),
    ).toEqual([{ city: 'São Paulo', unit: 'celsius' }, { zone: 'America/Sao_Paulo' }])
    expect(await major().calls('fake/tool-no-args')).toEqual(['{}'])
  })

  test('R8 S16: raises a typed error where a stream breaks', async () => {
    const thrown = await major().failure('fake/err-after-3')
    expect(thrown).toBeInstanceOf(Error)
    expect(thrown).toMatchObject({ code: 'provider_error', type: 'gateway_error' })
  })

  test('completes', async () => {
    expect(await major().completion('fake/ok')).toBe(greeting)
  })

  test('R2: has true vectors, also of a provider that knows no base64', async () => {
    for (const model of ['fake/embeds', 'texts/embed-floats-only']) {
      expect(await major().embedding(model)).toEqual(vectorOf('a', 8))
    }
  })

  test('has moderations, of a model that it names and of the default one', async () => {
    for (const model of ['fake/judge', undefined]) {
      expect(await major().flags(model)).toEqual([false, true])
    }
  })

  test('R1: finds a model by its id, slash and all, and in the list', async () => {
    expect(await major().model('fake/ok')).toBe('fake/ok')
    expect(await major().models()).toContain('fake/ok')
  })
})

test('R1: the later majors do encode the slash', async () => {
  const paths: string[] = []
  const spy = async (input: string | URL | Request, init?: RequestInit) => {
    paths.push(new URL(input instanceof Request ? input.url : input).pathname)
    return fixture.fetch(input, init)
  }
  await new OpenAI5({ ...options(), fetch: spy }).models.retrieve('fake/ok')
  await new OpenAI7({ ...options(), fetch: spy }).models.retrieve('fake/ok')
  expect(paths).toEqual(['/v1/models/fake%2Fok', '/v1/models/fake%2Fok'])
})
