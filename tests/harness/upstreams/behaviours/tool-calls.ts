import { answerOf } from '../answer'
import type { Answer, Chunk } from '../answer-shape'
import { type Behaviour, type Json, isJson, numberOf } from '../call'
import { deliver } from '../deliver'
import { type Script, type Step, textScript, scriptOf, slices, toolSteps } from '../script'
import { onFinish } from './usage'

const calling = (steps: Step[]): Script => ({ steps, finishReason: 'tool_calls' })

const deliverScript =
  (script: Script): Behaviour =>
  async (call) =>
    deliver(call, answerOf(call, script))

const weather = '{"city": "São Paulo", "unit": "celsius"}'
const time = '{"zone": "America/Sao_Paulo"}'

/** Two calls whose fragments take turns, told apart by their index alone. */
function interleaved(): Step[] {
  const first = toolSteps(0, 'get_weather', slices(weather, 6))
  const second = toolSteps(1, 'get_time', slices(time, 6))
  const rounds = Array.from({ length: Math.max(first.length, second.length) }, (_, index) => index)
  return rounds.flatMap((index) =>
    [first[index], second[index]].filter((step) => step !== undefined),
  )
}

/** Both calls and the role in one single chunk. */
const together: Json = {
  content: null,
  tool_calls: [
    {
      index: 0,
      id: 'call_a',
      type: 'function',
      function: { name: 'get_weather', arguments: weather },
    },
    { index: 1, id: 'call_b', type: 'function', function: { name: 'get_time', arguments: time } },
  ],
}

const noIndex: Json = {
  content: null,
  tool_calls: [{ id: 'D681PevKs', function: { name: 'get_weather', arguments: weather } }],
}

/** The delta of the last choice moved onto the chunk that ends it, as Mistral does; usage too. */
function wholeOnFinish(answer: Answer): Chunk[] {
  const chunks = onFinish(answer)
  const [role] = chunks
  const finish = chunks.at(-1)
  if (!role || !finish) return chunks
  const choices = [{ index: 0, delta: noIndex, finish_reason: 'tool_calls', logprobs: null }]
  const tokens = chunks.reduce((sum, chunk) => sum + chunk.tokens, 0)
  return [role, { ...finish, tokens, data: { ...finish.data, choices } }]
}

const mistral: Behaviour = async (call) => {
  const answer = answerOf(call, calling([{ delta: noIndex, tokens: 4 }]))
  await deliver(call, { ...answer, chunks: wholeOnFinish(answer) })
}

/** The call a request forces, but ended with `stop`. */
const wrongFinish: Behaviour = async (call) => {
  const script = scriptOf(call.received.body)
  await deliver(call, answerOf(call, { ...script, finishReason: 'stop' }))
}

/** Calls the first tool it is offered; once a result is the last of the messages, it repeats that. */
const agent: Behaviour = async (call) => {
  const { messages } = call.received.body
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : undefined
  const script =
    isJson(last) && last['role'] === 'tool'
      ? textScript(`The tool said: ${resultOf(last['content'])}`)
      : scriptOf({ ...call.received.body, tool_choice: 'required' })
  await deliver(call, answerOf(call, script))
}

/** Calls the first tool it is offered as often as its argument says, each with two calls at once; then it speaks. */
const roundsOf: Behaviour = async (call) => {
  const { messages, tools } = call.received.body
  const turns = Array.isArray(messages) ? messages.filter(isJson) : []
  const sinceUser = turns.slice(turns.findLastIndex(({ role }) => role === 'user'))
  const rounds = sinceUser.filter(({ tool_calls }) => Array.isArray(tool_calls)).length
  const [first] = Array.isArray(tools) ? tools.filter(isJson) : []
  const name = isJson(first?.['function']) ? String(first['function']['name']) : 'unknown'
  const text = (number: number) =>
    slices(JSON.stringify({ text: `round ${rounds + 1}.${number}` }), 9)
  const script =
    rounds < numberOf(call, 2)
      ? calling([...toolSteps(0, name, text(1)), ...toolSteps(1, name, text(2))])
      : textScript(`Done after ${rounds} rounds.`)
  await deliver(call, answerOf(call, script))
}

const resultOf = (content: unknown): string =>
  typeof content === 'string' ? content : JSON.stringify(content)

export const toolCalls: Record<string, Behaviour> = {
  'tool-fragments': deliverScript(calling(toolSteps(0, 'get_weather', slices(weather, 4)))),
  'tool-interleaved': deliverScript(calling(interleaved())),
  'tool-together': deliverScript(calling([{ delta: together, tokens: 8 }])),
  'tool-whole-no-index': mistral,
  'tool-no-args': deliverScript(calling(toolSteps(0, 'get_time', []))),
  'tool-finish-stop': wrongFinish,
  'tool-agent': agent,
  'tool-rounds': roundsOf,
}
