import { OpenRouter } from '@openrouter/sdk'

const { env } = process
const client = new OpenRouter({ apiKey: env.TOLLGATE_KEY, serverURL: `${env.TOLLGATE_URL}/v1` })
const question = { role: 'user', content: 'Say something.' }

const expect = (isSo, what) => {
  if (!isSo) throw new Error(what)
}

const getWeather = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'Tells the weather of a city.',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
}

const ask = (fields) =>
  client.chat.send({ chatRequest: { model: env.MODEL, messages: [question], ...fields } })

const cases = {
  async chat() {
    const { choices, usage } = await ask({})
    expect(choices[0].message.content === env.GREETING, JSON.stringify(choices))
    expect(usage.completionTokens > 0, 'no usage')
  },

  async stream() {
    const texts = []
    for await (const chunk of await ask({ stream: true })) {
      if (chunk.choices.length > 0) texts.push(chunk.choices[0].delta.content ?? '')
    }
    expect(texts.join('') === env.GREETING && texts.length > 3, JSON.stringify(texts))
  },

  async 'second-turn'() {
    const messages = []
    for (const content of ['How is the weather?', 'And now?']) {
      messages.push({ role: 'user', content })
      const about = { model: env.TOOL_MODEL, tools: [getWeather] }
      const asked = (await ask({ ...about, messages })).choices[0].message
      const [call] = asked.toolCalls
      expect(call.function.name === 'get_weather', JSON.stringify(asked))
      messages.push(asked, { role: 'tool', toolCallId: call.id, content: '18 degrees' })
      const answer = (await ask({ ...about, messages })).choices[0].message
      expect(answer.content.includes('18 degrees'), JSON.stringify(answer))
      messages.push(answer)
    }
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
