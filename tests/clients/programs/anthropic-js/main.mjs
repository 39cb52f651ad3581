import Anthropic from '@anthropic-ai/sdk'
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod'
import { z } from 'zod'

const { env } = process
const baseURL = env.TOLLGATE_URL
const client = new Anthropic({ baseURL, apiKey: env.TOLLGATE_KEY })
const model = env.MODEL
const asked = { model, max_tokens: 100, messages: [{ role: 'user', content: 'Hi.' }] }

const expect = (isSo, what) => {
  if (!isSo) throw new Error(what)
}

/** The library does not support the case. */
class Cannot extends Error {}

const getWeather = {
  name: 'get_weather',
  description: 'Tells the weather of a city.',
  input_schema: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
  },
}

/** The call must fail with this class and type. */
async function fails(call, Class, type) {
  try {
    await call
  } catch (error) {
    expect(error instanceof Class, `${error.constructor.name}, not ${Class.name}`)
    expect(error.error.error.type === type, JSON.stringify(error.error))
    return `${Class.name} ${error.status} ${type}`
  }
  throw new Error('the call did not fail')
}

const ask = (options, body = {}) =>
  new Anthropic({ baseURL, apiKey: env.TOLLGATE_KEY, maxRetries: 0, ...options }).messages.create({
    ...asked,
    ...body,
  })

const cases = {
  async abort() {
    const stream = await client.messages.create({
      ...asked,
      model: env.STALLING_MODEL,
      stream: true,
    })
    for await (const _event of stream) break
  },

  async chat() {
    const answer = await client.messages.create(asked)
    expect(answer.content[0].text === env.GREETING, JSON.stringify(answer))
    expect(answer.usage.output_tokens > 0, 'no usage')
  },

  async stream() {
    const texts = []
    const stream = client.messages.stream(asked).on('text', (text) => texts.push(text))
    const final = await stream.finalMessage()
    expect(texts.join('') === env.GREETING, texts.join(''))
    expect(texts.length > 3, 'not in pieces')
    expect(final.usage.output_tokens > 0, 'no usage')
  },

  async tools() {
    const about = { model: env.TOOL_MODEL, max_tokens: 100, tools: [getWeather] }
    const question = { role: 'user', content: 'How is the weather?' }
    const first = await client.messages.stream({ ...about, messages: [question] }).finalMessage()
    const call = first.content.find(({ type }) => type === 'tool_use')
    expect(first.stop_reason === 'tool_use' && call.name === 'get_weather', JSON.stringify(first))
    expect(call.input.city === 'text', JSON.stringify(call))
    const result = { type: 'tool_result', tool_use_id: call.id, content: '18 degrees' }
    const second = await client.messages.create({
      ...about,
      messages: [
        question,
        { role: 'assistant', content: first.content },
        { role: 'user', content: [result] },
      ],
    })
    expect(second.content[0].text.includes('18 degrees'), JSON.stringify(second))
  },

  async 'second-turn'() {
    const about = { model: env.TOOL_MODEL, max_tokens: 100, tools: [getWeather] }
    const messages = []
    for (const content of ['How is the weather?', 'And now?']) {
      messages.push({ role: 'user', content })
      const asked = await client.messages.create({ ...about, messages })
      const call = asked.content.find(({ type }) => type === 'tool_use')
      const result = { type: 'tool_result', tool_use_id: call.id, content: '18 degrees' }
      messages.push({ role: 'assistant', content: asked.content })
      messages.push({ role: 'user', content: [result] })
      const answer = await client.messages.create({ ...about, messages })
      expect(answer.content[0].text.includes('18 degrees'), JSON.stringify(answer))
      messages.push({ role: 'assistant', content: answer.content })
    }
  },

  async schema() {
    const Weather = z.object({ city: z.string(), degrees: z.number() })
    const output_config = { format: zodOutputFormat(Weather) }
    const { parsed_output: parsed } = await client.messages.parse({ ...asked, output_config })
    expect(parsed.city === 'text' && parsed.degrees === 1, JSON.stringify(parsed))
  },

  async embeddings() {
    throw new Cannot('not offered')
  },

  async speech() {
    throw new Cannot('not offered')
  },

  async models() {
    const ids = []
    for await (const { id } of client.models.list({ limit: 1000 })) ids.push(id)
    expect(ids.includes(model), ids.join())
    const found = await client.models.retrieve(model)
    expect(found.id === model && found.type === 'model', JSON.stringify(found))
  },

  'error-400': () =>
    fails(ask({}, { max_tokens: 0 }), Anthropic.BadRequestError, 'invalid_request_error'),
  'error-401': () =>
    fails(ask({ apiKey: 'sk-wrong' }), Anthropic.AuthenticationError, 'authentication_error'),
  // The library has no class for 402.
  'error-402': () => fails(ask({ apiKey: env.POOR_KEY }), Anthropic.APIError, 'billing_error'),
  'error-404': () =>
    fails(ask({}, { model: env.UNKNOWN_MODEL }), Anthropic.NotFoundError, 'not_found_error'),
  async 'error-429'() {
    await ask({ apiKey: env.LIMITED_KEY })
    return fails(ask({ apiKey: env.LIMITED_KEY }), Anthropic.RateLimitError, 'rate_limit_error')
  },

  async 'retry-503'() {
    const answer = await client.messages.create({ ...asked, model: env.BUSY_MODEL })
    expect(answer.content[0].text === env.GREETING, JSON.stringify(answer))
  },

  async 'retry-429'() {
    const single = new Anthropic({ baseURL, apiKey: env.SINGLE_KEY, maxRetries: 6 })
    const stream = await single.messages.create({ ...asked, model: env.SLOW_MODEL, stream: true })
    const answer = await single.messages.create(asked)
    expect(answer.content[0].text === env.GREETING, JSON.stringify(answer))
    for await (const _event of stream);
  },

  'no-retry': () =>
    fails(
      client.messages.create({ ...asked, model: env.BROKEN_MODEL }),
      Anthropic.InternalServerError,
      'api_error',
    ),

  async responses() {
    throw new Cannot('not offered')
  },
}

for (const [name, run] of Object.entries(cases)) {
  let result
  try {
    result = { case: name, ok: true, detail: (await run()) ?? '' }
  } catch (error) {
    result = { case: name, ok: error instanceof Cannot ? null : false, detail: error.message }
  }
  console.log(JSON.stringify(result))
}
