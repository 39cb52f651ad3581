import { HumanMessage, ToolMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai'
import OpenAI from 'openai'
import { z } from 'zod'

const { env } = process
const configuration = { baseURL: `${env.TOLLGATE_URL}/v1` }

const chatOf = (model, fields = {}) =>
  new ChatOpenAI({ model, apiKey: env.TOLLGATE_KEY, configuration, ...fields })

const expect = (isSo, what) => {
  if (!isSo) throw new Error(what)
}

/** The library does not support the case. */
class Cannot extends Error {}

/** The call must fail with this class of the SDK inside, and this code. */
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

const ask = (fields = {}, model = env.MODEL) =>
  chatOf(model, { maxRetries: 0, ...fields }).invoke('Say something.')

async function textOf(stream) {
  const texts = []
  for await (const chunk of stream) texts.push(chunk.text)
  expect(texts.length > 3, 'not in pieces')
  return texts.join('')
}

const cases = {
  async abort() {
    const leaving = new AbortController()
    const chat = chatOf(env.STALLING_MODEL)
    const stream = await chat.stream('Say something.', { signal: leaving.signal })
    await stream.next()
    leaving.abort()
  },

  async chat() {
    const answer = await chatOf(env.MODEL).invoke('Say something.')
    expect(answer.text === env.GREETING, JSON.stringify(answer))
    expect(answer.usage_metadata.output_tokens > 0, 'no usage')
  },

  async stream() {
    const text = await textOf(await chatOf(env.MODEL).stream('Say something.'))
    expect(text === env.GREETING, text)
  },

  async tools() {
    const getWeather = tool(() => '18 degrees', {
      name: 'get_weather',
      description: 'Tells the weather of a city.',
      schema: z.object({ city: z.string() }),
    })
    const chat = chatOf(env.TOOL_MODEL).bindTools([getWeather])
    const question = new HumanMessage('How is the weather?')
    let first
    for await (const chunk of await chat.stream([question])) {
      first = first ? first.concat(chunk) : chunk
    }
    const [call] = first.tool_calls
    expect(call.name === 'get_weather' && call.args.city === 'text', JSON.stringify(first))
    const result = await getWeather.invoke(call)
    expect(ToolMessage.isInstance(result), 'no result')
    const second = await chat.invoke([question, first, result])
    expect(second.text.includes('18 degrees'), JSON.stringify(second))
  },

  async 'second-turn'() {
    const getWeather = tool(() => '18 degrees', {
      name: 'get_weather',
      description: 'Tells the weather of a city.',
      schema: z.object({ city: z.string() }),
    })
    for (const useResponsesApi of [false, true]) {
      const chat = chatOf(env.TOOL_MODEL, { useResponsesApi }).bindTools([getWeather])
      const messages = []
      for (const question of ['How is the weather?', 'And now?']) {
        messages.push(new HumanMessage(question))
        const asked = await chat.invoke(messages)
        messages.push(asked, await getWeather.invoke(asked.tool_calls[0]))
        const answer = await chat.invoke(messages)
        expect(answer.text.includes('18 degrees'), JSON.stringify(answer))
        messages.push(answer)
      }
    }
  },

  async schema() {
    const schema = z.object({ city: z.string(), degrees: z.number() })
    const chat = chatOf(env.MODEL).withStructuredOutput(schema, { method: 'jsonSchema' })
    const found = await chat.invoke('How is the weather?')
    expect(found.city === 'text' && found.degrees === 1, JSON.stringify(found))
  },

  async embeddings() {
    const model = env.EMBEDDING_MODEL
    const embeddings = new OpenAIEmbeddings({ model, apiKey: env.TOLLGATE_KEY, configuration })
    const vector = await embeddings.embedQuery('a')
    expect(JSON.stringify(vector) === env.VECTOR, JSON.stringify(vector))
  },

  async speech() {
    throw new Cannot('not offered')
  },

  async models() {
    throw new Cannot('not offered')
  },

  'error-400': () => fails(ask({ temperature: 9 }), OpenAI.BadRequestError, 'invalid_request'),
  'error-401': () =>
    fails(ask({ apiKey: 'sk-wrong' }), OpenAI.AuthenticationError, 'invalid_api_key'),
  // The library has no class for 402.
  'error-402': () => fails(ask({ apiKey: env.POOR_KEY }), OpenAI.APIError, 'insufficient_credits'),
  'error-404': () => fails(ask({}, env.UNKNOWN_MODEL), OpenAI.NotFoundError, 'model_not_found'),
  async 'error-429'() {
    await ask({ apiKey: env.LIMITED_KEY })
    return fails(ask({ apiKey: env.LIMITED_KEY }), OpenAI.RateLimitError, 'rate_limit_exceeded')
  },

  async 'retry-503'() {
    const answer = await chatOf(env.BUSY_MODEL).invoke('Say something.')
    expect(answer.text === env.GREETING, JSON.stringify(answer))
  },

  async 'retry-429'() {
    const apiKey = env.SINGLE_KEY
    const stream = await chatOf(env.SLOW_MODEL, { apiKey }).stream('Say something.')
    const answer = await chatOf(env.MODEL, { apiKey }).invoke('Say something.')
    expect(answer.text === env.GREETING, JSON.stringify(answer))
    for await (const _chunk of stream);
  },

  async 'no-retry'() {
    throw new Cannot('not read: set `maxRetries`')
  },

  async responses() {
    const chat = chatOf(env.MODEL, { useResponsesApi: true })
    const answer = await chat.invoke('Say something.')
    expect(answer.text === env.GREETING, JSON.stringify(answer))
    const text = await textOf(await chat.stream('Say something.'))
    expect(text === env.GREETING, text)
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
