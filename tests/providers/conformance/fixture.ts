import { APIError, type OpenAI } from 'openai'
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions'
import { hasFixtures } from '../../harness/fixtures'
import { toForm, type FormFields } from '../../harness/http'
import { startSchemaJudge } from '../../harness/openai-schema'
import type { Fetch } from '../../harness/recorder'
import {
  startRig,
  upstreamSecret,
  type Customer,
  type Rig,
  type RigOptions,
} from '../../harness/server'

export type Json = Record<string, unknown>

/** A rig and one customer, whose every answer is held against the rules and OpenAI's description. */
export interface Fixture extends AsyncDisposable {
  rig: Rig
  customer: Customer
  /** The official client of the newest major. Never retries. */
  client: OpenAI
  fetch: Fetch
  model: Rig['model']
  /** What the provider was last sent. */
  sent: () => Json
  /** Posts a body as it is, for what no client would send. */
  post: (path: string, body: Json) => Promise<Response>
  /** Posts a form; null leaves a field out. */
  postForm: (path: string, fields: FormFields) => Promise<Response>
  /** Adds a provider with options of its own, at the same address; ids are then `<key>/<name>`. */
  addProvider: (key: string, options: Json) => Promise<void>
  /** Registers a model of any provider. */
  addModel: (id: string, fields?: Json) => Promise<string>
  /** Throws when any answer since the last call broke a rule. */
  verify: () => void
}

export const hello: ChatCompletionMessageParam[] = [{ role: 'user', content: 'Say something.' }]

if (!hasFixtures) {
  console.log('The folder of fixtures is absent: answers are not held against the description.')
}

/** Starts the gateway, the fake provider behind it, and a customer. */
export async function createFixture(options?: RigOptions & { provider?: Json }): Promise<Fixture> {
  const rig = await startRig(options)
  const { gateway, upstream, model } = rig
  const customer = await gateway.customer()
  const judge = startSchemaJudge(gateway.recorder.fetch)
  const headers = {
    authorization: `Bearer ${customer.key}`,
    'content-type': 'application/json',
  }
  return {
    rig,
    customer,
    client: customer.client.withOptions({ fetch: judge.fetch }),
    fetch: judge.fetch,
    model,
    sent: () => jsonOf(upstream.requests().at(-1)?.body),
    post: (path, body) =>
      judge.fetch(`${gateway.url}${path}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      }),
    postForm: (path, fields) =>
      judge.fetch(`${gateway.url}${path}`, {
        method: 'POST',
        headers: { authorization: headers.authorization },
        body: toForm(fields),
      }),
    async addProvider(key, options) {
      const fields = { key, name: key, adapter: 'openai', base_url: upstream.url, options }
      await gateway.admin('POST', '/providers', fields)
      const secret = upstreamSecret
      await gateway.admin('POST', '/connections', { name: key, provider: key, api_key: secret })
    },
    async addModel(id, fields = {}) {
      const pricing = { input: 1, output: 4 }
      await gateway.admin('POST', '/models', { id, name: id, category: 'chat', pricing, ...fields })
      return id
    },
    verify() {
      gateway.recorder.verify()
      judge.verify()
    },
    [Symbol.asyncDispose]: () => rig[Symbol.asyncDispose](),
  }
}

export const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A value as an object, empty if it is none. */
export const jsonOf = (value: unknown): Json => (isJson(value) ? value : {})

/** The `error` of an answer that is one. */
export const errorOf = async (response: Response): Promise<Json> =>
  jsonOf(jsonOf(await response.json())['error'])

/** What a call of a client rejects with. Throws when it does not, or with something else. */
export async function failureOf(call: PromiseLike<unknown>): Promise<APIError> {
  try {
    await call
  } catch (thrown) {
    if (thrown instanceof APIError) return thrown
    throw thrown
  }
  throw new Error('The call did not fail.')
}

/** The chunks of a stream, `[DONE]` left out. */
export const chunksOf = async (response: Response): Promise<Json[]> =>
  (await response.text())
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => jsonOf(JSON.parse(line.slice('data: '.length))))

export const choicesOf = ({ choices }: Json): Json[] =>
  Array.isArray(choices) ? choices.filter(isJson) : []

/** What a choice of a chunk says, in chat or in a legacy completion. */
export function textOf(choice: Json): string {
  const delta = jsonOf(choice['delta'])['content'] ?? choice['text']
  return typeof delta === 'string' ? delta : ''
}
