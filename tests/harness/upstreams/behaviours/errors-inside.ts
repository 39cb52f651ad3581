import { answerOf } from '../answer'
import { type Behaviour, type Call, type Json, isJson, numberOf } from '../call'
import { deliver, firstFrames, framesOf, openAnswer, writeFrames } from '../deliver'
import { wordScript } from '../script'
import { refusalOf } from './statuses'

const overloadedOf = (call: Call) =>
  refusalOf(call, 529, {
    type: 'server_error',
    code: 'overloaded',
    message: 'The fake provider is overloaded.',
  })

/** A status of 200, then k chunks, then an error where the next one should be. */
const errorAfter =
  (defaultCount: number): Behaviour =>
  async (call) => {
    const count = numberOf(call, defaultCount)
    const overloaded = overloadedOf(call)
    if (call.received.body['stream'] !== true) return call.reply.json(200, overloaded)
    const answer = answerOf(call, wordScript(Math.max(10, count + 3)))
    openAnswer(call, answer)
    if (count > 0) await writeFrames(call, firstFrames(framesOf(answer), count))
    await call.reply.body(`data: ${JSON.stringify(overloaded)}\n\n`)
    await call.reply.finish()
  }

function editFinish(choice: Json, change: Json): Json {
  return typeof choice['finish_reason'] === 'string' ? { ...choice, ...change } : choice
}

/** A good answer whose finish carries `change`. */
export const finishWith =
  (changeOf: (argument: string) => Json): Behaviour =>
  async (call) => {
    const change = changeOf(call.argument)
    const edit = (data: Json): Json => {
      const choices = Array.isArray(data['choices']) ? data['choices'].filter(isJson) : []
      return { ...data, choices: choices.map((choice) => editFinish(choice, change)) }
    }
    const answer = answerOf(call)
    const chunks = answer.chunks.map((chunk) => ({ ...chunk, data: edit(chunk.data) }))
    await deliver(call, { ...answer, chunks, whole: edit(answer.whole) })
  }

export const errorsInside: Record<string, Behaviour> = {
  'err-first': errorAfter(0),
  'err-after': errorAfter(3),
  'finish-error': finishWith(() => ({ finish_reason: 'error' })),
  'native-finish-error': finishWith(() => ({
    finish_reason: 'stop',
    native_finish_reason: 'error',
  })),
  finish: finishWith((reason) => ({ finish_reason: reason })),
}
