import { createEventStream } from './event-stream'
import { toTextModel, type TextModel } from './models'
import { prose, type ProseOptions } from './prose'
import { SandboxChatRequest, parse } from './request'
import { sample } from './sample'
import { sliceText, countPromptTokens, countAnswerTokens } from './text'
import {
  lastUserText,
  textOf,
  createToolCalls,
  findTrailingResults,
  type SandboxToolCall,
} from './tool-calls'
import { readEndRules, toUsage, writeText } from './write-text'

interface Choice {
  text: string
  calls: readonly SandboxToolCall[]
  finish: 'stop' | 'length' | 'tool_calls'
  tokens: number
}

function toText(
  request: SandboxChatRequest,
  model: TextModel,
  options: Omit<ProseOptions, 'text'>,
): string {
  const { messages, response_format: format } = request
  if (format?.type === 'json_schema') {
    return JSON.stringify(sample(format.json_schema?.schema ?? { type: 'object' }))
  }
  const results = model === 'tools' ? findTrailingResults(messages) : []
  const write = (limit?: number) =>
    results.length > 0
      ? `The tool answered: ${results.join('; ')}`
      : prose[model]({ ...options, text: lastUserText(messages), limit })
  // Prose as long as the limit would leave the object open.
  return format?.type === 'json_object'
    ? JSON.stringify({ [model === 'echo' ? 'echo' : 'text']: write() })
    : write(options.limit)
}

function toChoice(request: SandboxChatRequest, model: TextModel, index: number): Choice {
  const { stop, max_tokens: older, max_completion_tokens: newer } = request
  const ends = readEndRules(stop, newer ?? older)
  const calls = model === 'tools' ? createToolCalls(request, index) : []
  if (calls.length === 0) {
    const text = toText(request, model, { limit: ends.limit, variant: index })
    return { ...writeText(text, ends), calls }
  }
  const tokens = calls.reduce((sum, call) => sum + countAnswerTokens(call.function.arguments), 0)
  // Half a call is useless: under a limit that is too small there is none.
  if (ends.limit !== undefined && tokens > ends.limit) {
    return { text: '', calls: [], finish: 'length', tokens: ends.limit }
  }
  return { text: '', calls, finish: 'tool_calls', tokens }
}

/** Pieces of text read: of each message, of each part that is no text one, and of the tools. */
function promptTokens({ messages, tools }: SandboxChatRequest): number {
  let tokens = 0
  for (const message of messages) {
    tokens += countPromptTokens(textOf(message))
    if (typeof message.content === 'string') continue
    tokens += (message.content ?? []).filter(({ type }) => type !== 'text').length
  }
  for (const tool of tools ?? []) tokens += countPromptTokens(JSON.stringify(tool))
  return tokens
}

const toMessage = ({ text, calls }: Choice) =>
  calls.length === 0
    ? { role: 'assistant', content: text, refusal: null }
    : { role: 'assistant', content: null, refusal: null, tool_calls: calls }

function* callDeltas(calls: readonly SandboxToolCall[]) {
  for (const [index, { id, type, function: calledFunction }] of calls.entries()) {
    yield {
      tool_calls: [{ index, id, type, function: { name: calledFunction.name, arguments: '' } }],
    }
    for (const slice of sliceText(calledFunction.arguments, 32)) {
      yield { tool_calls: [{ index, function: { arguments: slice } }] }
    }
  }
}

function* deltas({ text, calls }: Choice) {
  yield { role: 'assistant', content: calls.length === 0 ? '' : null, refusal: null }
  for (const slice of sliceText(text)) yield { content: slice }
  yield* callDeltas(calls)
}

function* chunks(head: object, choices: readonly Choice[], usage: object | undefined) {
  for (const [index, choice] of choices.entries()) {
    for (const delta of deltas(choice)) {
      yield { ...head, choices: [{ index, delta, logprobs: null, finish_reason: null }] }
    }
    const last = { index, delta: {}, logprobs: null, finish_reason: choice.finish }
    yield { ...head, choices: [last] }
  }
  if (usage) yield { ...head, choices: [], usage }
}

/** `POST /chat/completions`. Choices are streamed one after the other. Throws `Refusal`. */
export function answerChat(body: unknown, signal: AbortSignal): Response {
  const request = parse(SandboxChatRequest, body)
  const model = toTextModel(request.model)
  const length = request.n ?? 1
  const choices = Array.from({ length }, (_, index) => toChoice(request, model, index))
  const completion = choices.reduce((sum, { tokens }) => sum + tokens, 0)
  const usage = toUsage(promptTokens(request), completion)
  const head = {
    id: `chatcmpl-${crypto.randomUUID()}`,
    object: request.stream ? 'chat.completion.chunk' : 'chat.completion',
    created: Math.floor(Date.now() / 1000),
    model,
  }
  if (request.stream) {
    const wantsUsage = request.stream_options?.include_usage === true
    return createEventStream(chunks(head, choices, wantsUsage ? usage : undefined), signal)
  }
  const whole = choices.map((choice, index) => ({
    index,
    message: toMessage(choice),
    logprobs: null,
    finish_reason: choice.finish,
  }))
  return Response.json({ ...head, choices: whole, usage })
}
