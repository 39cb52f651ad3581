import type { Answer, Chunk } from './answer-shape'
import { type Call, type Json, isJson } from './call'
import { isMessages, messagesAnswer, toChatRequest } from './messages'
import { type Script, type Step, capScript, scriptOf } from './script'

/** Chat completion or legacy completion; they differ in names and in where the text is. */
interface Form {
  id: string
  object: string
  choice: (step: Step, index: number, logprobs: unknown) => Json
  last: (index: number, finishReason: string) => Json
  whole: (script: Script, index: number, asksLogprobs: boolean) => Json
}

const created = 1_780_000_000

const isLegacy = (call: Call) =>
  call.received.path.endsWith('/completions') && !call.received.path.includes('chat')

/** The log probability OpenAI would give with `logprobs: true`; always the same one here. */
function logprobs({ delta }: Step): Json {
  const content = textOf(delta['content'])
  const token = {
    token: content,
    logprob: -0.25,
    bytes: [...Buffer.from(content)],
    top_logprobs: [],
  }
  return { content: content === '' ? [] : [token], refusal: null }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

function addToolCalls(calls: Json[], deltas: unknown): void {
  for (const delta of Array.isArray(deltas) ? deltas.filter(isJson) : []) {
    const index = typeof delta['index'] === 'number' ? delta['index'] : calls.length
    const fragment = isJson(delta['function']) ? delta['function'] : {}
    const known = calls[index]
    if (known && isJson(known['function'])) {
      const sofar = textOf(known['function']['arguments'])
      known['function']['arguments'] = sofar + textOf(fragment['arguments'])
    } else {
      calls[index] = { id: delta['id'], type: 'function', function: { ...fragment } }
    }
  }
}

/** The message that a choice's deltas add up to. */
function collect(steps: readonly Step[]): Json {
  const message: Json = { role: 'assistant', content: null, refusal: null }
  const calls: Json[] = []
  for (const { delta } of steps) {
    for (const [key, value] of Object.entries(delta)) {
      if (key === 'tool_calls') addToolCalls(calls, value)
      else if (typeof value === 'string' && key !== 'role')
        message[key] = textOf(message[key]) + value
    }
  }
  return calls.length > 0 ? { ...message, tool_calls: calls } : message
}

const chat: Form = {
  id: 'chatcmpl-fake',
  object: 'chat.completion',
  choice: ({ delta }, index, logprobs) => ({ index, delta, logprobs, finish_reason: null }),
  last: (index, finish_reason) => ({ index, delta: {}, logprobs: null, finish_reason }),
  whole: ({ steps, finishReason }, index, asksLogprobs) => ({
    index,
    message: collect(steps),
    logprobs: asksLogprobs
      ? { content: steps.flatMap((step) => logprobs(step)['content']), refusal: null }
      : null,
    finish_reason: finishReason,
  }),
}

const legacy: Form = {
  id: 'cmpl-fake',
  object: 'text_completion',
  choice: ({ delta }, index) => ({
    text: textOf(delta['content']),
    index,
    logprobs: null,
    finish_reason: null,
  }),
  last: (index, finish_reason) => ({ text: '', index, logprobs: null, finish_reason }),
  whole: ({ steps, finishReason }, index) => ({
    text: steps.map(({ delta }) => textOf(delta['content'])).join(''),
    index,
    logprobs: null,
    finish_reason: finishReason,
  }),
}

function choiceCount(call: Call): number {
  const { n, prompt } = call.received.body
  const each = typeof n === 'number' && n > 0 ? n : 1
  const isList = Array.isArray(prompt) && typeof prompt[0] !== 'number'
  return isLegacy(call) && isList ? each * prompt.length : each
}

/** Choices take turns, delta by delta, as OpenAI streams them. */
function chunksOf(call: Call, script: Script, base: Json): Chunk[] {
  const form = isLegacy(call) ? legacy : chat
  const indexes = Array.from({ length: choiceCount(call) }, (_, index) => index)
  const asksLogprobs = call.received.body['logprobs'] === true
  const content = script.finishReason === 'tool_calls' ? null : ''
  const first = { delta: { role: 'assistant', content, refusal: null }, tokens: 0 }
  const steps = form === chat ? [first, ...script.steps] : script.steps
  const chunks = steps.flatMap((step) =>
    indexes.map((index) => {
      const choice = form.choice(step, index, asksLogprobs ? logprobs(step) : null)
      return { data: { ...base, choices: [choice] }, tokens: step.tokens, ends: false }
    }),
  )
  for (const index of indexes) {
    const choices = [form.last(index, script.finishReason)]
    chunks.push({ data: { ...base, choices }, tokens: 0, ends: index === indexes.length - 1 })
  }
  return chunks
}

/** Usage as OpenAI words it. Reasoning is part of the completion. */
export const usageOf = (prompt: number, completion: number, reasoning = 0): Json => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
  prompt_tokens_details: { cached_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: reasoning },
})

const asksUsage = ({ received: { body } }: Call) =>
  isJson(body['stream_options']) && body['stream_options']['include_usage'] === true

/**
 * The good answer to a call: `script`, or what `scriptOf` finds, cut at the output limit unless the
 * script is marked as `uncapped`. Starts the attempt's bill.
 */
export function answerOf(call: Call, script?: Script & { uncapped?: boolean }): Answer {
  const { body } = call.received
  const full = script ?? scriptOf(isMessages(call) ? toChatRequest(body) : body)
  const used = script?.uncapped ? full : capScript(full, body)
  if (isMessages(call)) return messagesAnswer(call, used)
  const form = isLegacy(call) ? legacy : chat
  const id = `${form.id}-${call.attempt.id}`
  const base: Json = { id, object: form.object, created, model: call.attempt.model }
  const count = choiceCount(call)
  const sum = (steps: readonly Step[]) =>
    steps.reduce((total, { tokens }) => total + tokens, 0) * count
  const thinking = used.steps.filter(({ delta }) => 'reasoning_content' in delta)
  const usage = usageOf(call.attempt.promptTokens, sum(used.steps), sum(thinking))
  call.attempt.answered = true
  call.attempt.completionTokens = sum(used.steps)

  const choices = Array.from({ length: count }, (_, index) =>
    form.whole(used, index, body['logprobs'] === true),
  )
  const whole = { ...base, choices, usage }
  if (body['stream'] !== true) return { stream: false, chunks: [], whole, usage }
  const chunkBase = form === chat ? { ...base, object: 'chat.completion.chunk' } : base
  const chunks = chunksOf(call, used, chunkBase)
  if (asksUsage(call))
    chunks.push({ data: { ...chunkBase, choices: [], usage }, tokens: 0, ends: false })
  return { stream: true, chunks, whole, usage }
}
