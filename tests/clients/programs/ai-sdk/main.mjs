import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import {
  APICallError,
  embed,
  generateSpeech,
  generateText,
  isStepCount,
  Output,
  streamText,
  tool,
} from 'ai'
import { z } from 'zod'

const { env } = process
const isOpenAI = env.CLIENT === 'ai-sdk-openai'
const prompt = 'Say something.'

// The provider `openai` uses the Responses format by default.
const providerOf = (apiKey) => {
  const baseURL = `${env.TOLLGATE_URL}/v1`
  return isOpenAI
    ? createOpenAI({ baseURL, apiKey })
    : createOpenAICompatible({
        name: 'tollgate',
        baseURL,
        apiKey,
        includeUsage: true,
        supportsStructuredOutputs: true,
      })
}
const provider = providerOf(env.TOLLGATE_KEY)
const model = provider(env.MODEL)

const expect = (isSo, what) => {
  if (!isSo) throw new Error(what)
}

/** The library does not support the case. */
class Cannot extends Error {}

/** The call must fail with this status and code. */
async function fails(call, status, code) {
  try {
    await call
  } catch (error) {
    expect(APICallError.isInstance(error), String(error))
    expect(error.statusCode === status, `status ${error.statusCode}, not ${status}`)
    expect(error.data.error.code === code, JSON.stringify(error.data))
    expect(error.isRetryable === (status === 429), 'wrong about repeating it')
    return `APICallError ${status} ${code}`
  }
  throw new Error('the call did not fail')
}

const ask = ({ apiKey = env.TOLLGATE_KEY, name = env.MODEL, ...settings } = {}) =>
  generateText({ model: providerOf(apiKey)(name), prompt, maxRetries: 0, ...settings })

async function textOf(stream) {
  const texts = []
  for await (const text of stream) texts.push(text)
  expect(texts.length > 3, 'not in pieces')
  return texts.join('')
}

const cases = {
  async abort() {
    const leaving = new AbortController()
    const { textStream } = streamText({
      model: provider(env.STALLING_MODEL),
      prompt,
      abortSignal: leaving.signal,
    })
    const reader = textStream[Symbol.asyncIterator]()
    await reader.next()
    leaving.abort()
  },

  async chat() {
    const { text, usage, finishReason } = await generateText({ model, prompt })
    expect(text === env.GREETING, text)
    expect(finishReason === 'stop' && usage.outputTokens > 0, JSON.stringify(usage))
    if (!isOpenAI) return
    const other = await generateText({ model: provider.chat(env.MODEL), prompt })
    expect(other.text === env.GREETING, other.text)
  },

  async stream() {
    const result = streamText({ model, prompt })
    expect((await textOf(result.textStream)) === env.GREETING, 'another text')
    expect((await result.usage).outputTokens > 0, 'no usage')
    if (!isOpenAI) return
    const other = streamText({ model: provider.chat(env.MODEL), prompt })
    expect((await textOf(other.textStream)) === env.GREETING, 'another text')
  },

  async tools() {
    const cities = []
    const getWeather = tool({
      description: 'Tells the weather of a city.',
      inputSchema: z.object({ city: z.string() }),
      execute: ({ city }) => {
        cities.push(city)
        return '18 degrees'
      },
    })
    const result = streamText({
      model: provider(env.TOOL_MODEL),
      prompt: 'How is the weather?',
      tools: { get_weather: getWeather },
      stopWhen: isStepCount(3),
    })
    expect((await result.text).includes('18 degrees'), await result.text)
    expect(cities.join() === 'text', cities.join())
  },

  // The default provider names the items of earlier answers by their ids.
  async 'second-turn'() {
    let asked = 0
    const getWeather = tool({
      description: 'Tells the weather of a city.',
      inputSchema: z.object({ city: z.string() }),
      execute: () => {
        asked += 1
        return '18 degrees'
      },
    })
    const messages = []
    for (const content of ['How is the weather?', 'And now?']) {
      messages.push({ role: 'user', content })
      const { text, response } = await generateText({
        model: provider(env.TOOL_MODEL),
        messages,
        tools: { get_weather: getWeather },
        stopWhen: isStepCount(3),
      })
      expect(text.includes('18 degrees'), text)
      messages.push(...response.messages)
    }
    expect(asked === 2, `the tool was called ${asked} times`)
    if (!isOpenAI) return
    const first = await generateText({ model, prompt })
    const previousResponseId = first.providerMetadata.openai.responseId
    const providerOptions = { openai: { previousResponseId } }
    const second = await generateText({ model, prompt, providerOptions })
    expect(second.text === env.GREETING, second.text)
  },

  async schema() {
    const schema = z.object({ city: z.string(), degrees: z.number() })
    const { output } = await generateText({ model, prompt, output: Output.object({ schema }) })
    expect(output.city === 'text' && output.degrees === 1, JSON.stringify(output))
  },

  async embeddings() {
    const { embedding } = await embed({
      model: provider.embeddingModel(env.EMBEDDING_MODEL),
      value: 'a',
    })
    expect(JSON.stringify(embedding) === env.VECTOR, JSON.stringify(embedding))
  },

  async speech() {
    if (!isOpenAI) throw new Cannot('not offered')
    const speechModel = provider.speech(env.SPEECH_MODEL)
    const { audio } = await generateSpeech({ model: speechModel, text: 'Hello', voice: 'alloy' })
    expect(audio.base64 === env.SOUND, `${audio.uint8Array.length} bytes`)
  },

  async models() {
    throw new Cannot('not offered')
  },

  'error-400': () => fails(ask({ temperature: 9 }), 400, 'invalid_request'),
  'error-401': () => fails(ask({ apiKey: 'sk-wrong' }), 401, 'invalid_api_key'),
  'error-402': () => fails(ask({ apiKey: env.POOR_KEY }), 402, 'insufficient_credits'),
  'error-404': () => fails(ask({ name: env.UNKNOWN_MODEL }), 404, 'model_not_found'),
  async 'error-429'() {
    await ask({ apiKey: env.LIMITED_KEY })
    return fails(ask({ apiKey: env.LIMITED_KEY }), 429, 'rate_limit_exceeded')
  },

  async 'retry-503'() {
    const { text } = await generateText({ model: provider(env.BUSY_MODEL), prompt })
    expect(text === env.GREETING, text)
  },

  async 'retry-429'() {
    const single = providerOf(env.SINGLE_KEY)
    const { textStream } = streamText({ model: single(env.SLOW_MODEL), prompt })
    const reader = textStream[Symbol.asyncIterator]()
    await reader.next()
    const { text } = await generateText({ model: single(env.MODEL), prompt, maxRetries: 6 })
    expect(text === env.GREETING, text)
    while (!(await reader.next()).done);
  },

  async 'no-retry'() {
    throw new Cannot('not read: set `maxRetries`')
  },

  async responses() {
    if (!isOpenAI) throw new Cannot('not offered')
    const { text } = await generateText({ model: provider.responses(env.MODEL), prompt })
    expect(text === env.GREETING, text)
    const { textStream } = streamText({ model: provider.responses(env.MODEL), prompt })
    expect((await textOf(textStream)) === env.GREETING, 'another text')
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
