import { Agent, run, setDefaultOpenAIClient, setTracingDisabled, tool } from '@openai/agents'
import OpenAI from 'openai'
import { z } from 'zod'

const { env } = process
setTracingDisabled(true)
setDefaultOpenAIClient(new OpenAI({ baseURL: `${env.TOLLGATE_URL}/v1`, apiKey: env.TOLLGATE_KEY }))

const expect = (isSo, what) => {
  if (!isSo) throw new Error(what)
}

const getWeather = tool({
  name: 'get_weather',
  description: 'Tells the weather of a city.',
  parameters: z.object({ city: z.string() }),
  execute: () => '18 degrees',
})

const agentOf = (model, tools = []) =>
  new Agent({ name: 'Assistant', instructions: 'Be brief.', model, tools })

const cases = {
  async chat() {
    const { finalOutput } = await run(agentOf(env.MODEL), 'Say something.')
    expect(finalOutput === env.GREETING, finalOutput)
  },

  async stream() {
    const result = await run(agentOf(env.MODEL), 'Say something.', { stream: true })
    const texts = []
    for await (const text of result.toTextStream()) texts.push(text)
    expect(texts.join('') === env.GREETING && texts.length > 3, JSON.stringify(texts))
  },

  async 'second-turn'() {
    const agent = agentOf(env.TOOL_MODEL, [getWeather])
    let previousResponseId
    for (const question of ['How is the weather?', 'And now?']) {
      const result = await run(agent, question, { previousResponseId })
      expect(result.finalOutput.includes('18 degrees'), result.finalOutput)
      previousResponseId = result.lastResponseId
    }
    // Without an id, the whole history goes along.
    const first = await run(agent, 'How is the weather?')
    const history = [...first.history, { role: 'user', content: 'And now?' }]
    const second = await run(agent, history)
    expect(second.finalOutput.includes('18 degrees'), second.finalOutput)
  },
}

for (const [name, attempt] of Object.entries(cases)) {
  let result
  try {
    result = { case: name, ok: true, detail: (await attempt()) ?? '' }
  } catch (error) {
    result = { case: name, ok: false, detail: String(error) }
  }
  console.log(JSON.stringify(result))
}
