import { answerOf } from '../answer'
import { type Behaviour, type Json, isJson } from '../call'
import { deliver } from '../deliver'
import { pieces, textScript, text } from '../script'

/** A good answer with every chunk, and the whole body, changed. */
const shaped =
  (change: (data: Json, index: number) => Json): Behaviour =>
  async (call) => {
    const answer = answerOf(call)
    const chunks = answer.chunks.map((chunk, index) => ({
      ...chunk,
      data: change(chunk.data, index),
    }))
    await deliver(call, { ...answer, chunks, whole: change(answer.whole, 0) })
  }

const eachChoice = (data: Json, change: (choice: Json) => Json): Json => ({
  ...data,
  choices: Array.isArray(data['choices']) ? data['choices'].filter(isJson).map(change) : [],
})

/** Thoughts first, in `reasoning_content` or whatever the argument names, then the answer. */
const reasoning: Behaviour = async (call) => {
  const field = call.argument === '' ? 'reasoning_content' : call.argument
  const thoughts = pieces('The caller greets me, so I greet back.').map((thought) => ({
    delta: { [field]: thought },
    tokens: text(thought).tokens,
  }))
  const { steps, finishReason } = textScript('Hello to you.')
  await deliver(call, answerOf(call, { steps: [...thoughts, ...steps], finishReason }))
}

/** Declines in `refusal` instead of `content`. */
const refusal: Behaviour = async (call) => {
  const steps = pieces('I cannot help with that.').map((piece) => ({
    delta: { refusal: piece },
    tokens: text(piece).tokens,
  }))
  await deliver(call, answerOf(call, { steps, finishReason: 'stop' }))
}

/** The answer's text is the request, as JSON: the request's body, or its headers. */
const echo =
  (of: 'body' | 'headers'): Behaviour =>
  async (call) => {
    const { steps, finishReason } = textScript(JSON.stringify(call.received[of]))
    await deliver(call, answerOf(call, { steps, finishReason, uncapped: true }))
  }

const withRole = (choice: Json): Json =>
  isJson(choice['delta']) && Object.keys(choice['delta']).length > 0
    ? { ...choice, delta: { ...choice['delta'], role: 'assistant' } }
    : choice

export const shapes: Record<string, Behaviour> = {
  'ids-vary': shaped((data, index) => ({ ...data, id: `chatcmpl-varies-${index}` })),
  'model-differs': shaped((data) => ({ ...data, model: 'another-model-2026-01-01' })),
  'created-string': shaped((data) => ({ ...data, created: '1780000000' })),
  'created-none': shaped((data) => ({ ...data, created: undefined })),
  'unknown-fields': shaped((data) =>
    eachChoice(
      { ...data, x_vendor: { trace: 'v1\r\nset-cookie: a=1' }, obfuscation: 'aB3' },
      (choice) => ({
        ...choice,
        content_filter_results: { hate: { filtered: false } },
      }),
    ),
  ),
  'error-null': shaped((data) => ({ ...data, error: null })),
  'role-each-chunk': shaped((data) => eachChoice(data, withRole)),
  reasoning,
  refusal,
  'echo-request': echo('body'),
  'echo-headers': echo('headers'),
  unicode: async (call) =>
    deliver(call, answerOf(call, textScript('Grüße — 你好 世界, 👩‍👩‍👧‍👦 family, עברית, \u{2028} end'))),
}
