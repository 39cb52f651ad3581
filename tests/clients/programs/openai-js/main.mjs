import OpenAI from 'openai'
import { zodResponseFormat } from 'openai/helpers/zod'
import { z } from 'zod'

const { env } = process
const baseURL = `${env.TOLLGATE_URL}/v1`
const client = new OpenAI({ baseURL, apiKey: env.TOLLGATE_KEY })
const model = env.MODEL
const messages = [{ role: 'user', content: 'Say something.' }]

const expect = (isSo, what) => {
  if (!isSo) throw new Error(what)
}

const getWeather = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'Tells the weather of a city.',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
      additionalProperties: false,
    },
    strict: true,
  },
}

/** The call must fail with this class and code. */
async function fails(call, Class, code) {
  try {
    await call
  } catch (error) {
    expect(error instanceof Class, `${error.constructor.name}, not ${Class.name}`)
    expect(error.code === code, `code ${error.code}, not ${code}`)
    return `${Class.name} ${error.status} ${code}`
  }
  throw new Error('the call did not fail')
}

const ask = (options, body = {}) =>
  new OpenAI({
    baseURL,
    apiKey: env.TOLLGATE_KEY,
    maxRetries: 0,
    ...options,
  }).chat.completions.create({
    model,
    messages,
    ...body,
  })

const cases = {
  async abort() {
    const stream = await client.chat.completions.create({
      model: env.STALLING_MODEL,
      messages,
      stream: true,
    })
    for await (const _chunk of stream) break
  },

  async chat() {
    const answer = await client.chat.completions.create({ model, messages })
    expect(answer.choices[0].message.content === env.GREETING, JSON.stringify(answer))
    expect(answer.usage.completion_tokens > 0, 'no usage')
  },

  async stream() {
    const stream = await client.chat.completions.create({
      model,
      messages,
      stream: true,
      stream_options: { include_usage: true },
    })
    const texts = []
    let usage
    for await (const chunk of stream) {
      if (chunk.choices.length > 0) texts.push(chunk.choices[0].delta.content ?? '')
      usage = chunk.usage ?? usage
    }
    expect(texts.join('') === env.GREETING, texts.join(''))
    expect(texts.length > 3, 'not in pieces')
    expect(usage.completion_tokens > 0, 'no usage')
  },

  async tools() {
    const tools = [getWeather]
    const question = { role: 'user', content: 'How is the weather?' }
    const first = await client.chat.completions
      .stream({ model: env.TOOL_MODEL, messages: [question], tools })
      .finalChatCompletion()
    const { message, finish_reason: reason } = first.choices[0]
    const [call] = message.tool_calls
    expect(reason === 'tool_calls' && call.function.name === 'get_weather', JSON.stringify(first))
    expect(JSON.parse(call.function.arguments).city === 'text', call.function.arguments)
    const second = await client.chat.completions.create({
      model: env.TOOL_MODEL,
      messages: [question, message, { role: 'tool', tool_call_id: call.id, content: '18 degrees' }],
      tools,
    })
    expect(second.choices[0].message.content.includes('18 degrees'), JSON.stringify(second))
  },

  async 'second-turn'() {
    const tools = [{ type: 'function', ...getWeather.function }]
    const ask = (fields) => client.responses.create({ model: env.TOOL_MODEL, tools, ...fields })
    let previous_response_id
    for (const input of ['How is the weather?', 'And now?']) {
      const asked = await ask({ input, previous_response_id })
      const call = asked.output.find(({ type }) => type === 'function_call')
      expect(call?.name === 'get_weather', JSON.stringify(asked))
      const output = { type: 'function_call_output', call_id: call.call_id, output: '18 degrees' }
      const answer = await ask({ input: [output], previous_response_id: asked.id })
      expect(answer.output_text.includes('18 degrees'), JSON.stringify(answer))
      previous_response_id = answer.id
    }
  },

  async schema() {
    const Weather = z.object({ city: z.string(), degrees: z.number() })
    const answer = await client.chat.completions.parse({
      model,
      messages,
      response_format: zodResponseFormat(Weather, 'weather'),
    })
    const { parsed } = answer.choices[0].message
    expect(parsed.city === 'text' && parsed.degrees === 1, JSON.stringify(parsed))
  },

  async embeddings() {
    const { data } = await client.embeddings.create({ model: env.EMBEDDING_MODEL, input: 'a' })
    expect(JSON.stringify([...data[0].embedding]) === env.VECTOR, JSON.stringify(data))
  },

  async speech() {
    const asked = { model: env.SPEECH_MODEL, voice: 'alloy', input: 'Hello' }
    const whole = await client.audio.speech.create(asked)
    const bytes = Buffer.from(await whole.arrayBuffer())
    expect(bytes.toString('base64') === env.SOUND, `${bytes.length} bytes`)
    const pieces = []
    for await (const piece of (await client.audio.speech.create(asked)).body) pieces.push(piece)
    expect(Buffer.concat(pieces).equals(bytes), `${pieces.length} pieces`)
    const events = await client.audio.speech.create({ ...asked, stream_format: 'sse' })
    const text = await events.text()
    expect(text.includes('speech.audio.done'), text.slice(-200))
  },

  async models() {
    const ids = []
    for await (const { id } of await client.models.list()) ids.push(id)
    expect(ids.includes(model), ids.join())
    expect((await client.models.retrieve(model)).id === model, 'another model')
  },

  'error-400': () => fails(ask({}, { temperature: 9 }), OpenAI.BadRequestError, 'invalid_request'),
  'error-401': () =>
    fails(ask({ apiKey: 'sk-wrong' }), OpenAI.AuthenticationError, 'invalid_api_key'),
  // The library has no class for 402.
  'error-402': () => fails(ask({ apiKey: env.POOR_KEY }), OpenAI.APIError, 'insufficient_credits'),
  'error-404': () =>
    fails(ask({}, { model: env.UNKNOWN_MODEL }), OpenAI.NotFoundError, 'model_not_found'),
  async 'error-429'() {
    await ask({ apiKey: env.LIMITED_KEY })
    return fails(ask({ apiKey: env.LIMITED_KEY }), OpenAI.RateLimitError, 'rate_limit_exceeded')
  },

  async 'retry-503'() {
    const answer = await client.chat.completions.create({ model: env.BUSY_MODEL, messages })
    expect(answer.choices[0].message.content === env.GREETING, JSON.stringify(answer))
  },

  async 'retry-429'() {
    const single = new OpenAI({ baseURL, apiKey: env.SINGLE_KEY, maxRetries: 6 })
    const stream = await single.chat.completions.create({
      model: env.SLOW_MODEL,
      messages,
      stream: true,
    })
    const answer = await single.chat.completions.create({ model, messages })
    expect(answer.choices[0].message.content === env.GREETING, JSON.stringify(answer))
    for await (const _chunk of stream);
  },

  'no-retry': () =>
    fails(
      client.chat.completions.create({ model: env.BROKEN_MODEL, messages }),
      OpenAI.InternalServerError,
      'provider_error',
    ),

  async responses() {
    const whole = await client.responses.create({ model, input: 'Say something.' })
    expect(whole.output_text === env.GREETING, JSON.stringify(whole))
    const events = await client.responses.create({ model, input: 'Say something.', stream: true })
    let text = ''
    for await (const event of events) {
      if (event.type === 'response.output_text.delta') text += event.delta
    }
    expect(text === env.GREETING, text)
  },
}

for (const [name, run] of Object.entries(cases)) {
  let result
  try {
    result = { case: name, ok: true, detail: (await run()) ?? '' }
  } catch (error) {
    result = { case: name, ok: false, detail: String(error) }
  }
  console.log(JSON.stringify(result))
}
