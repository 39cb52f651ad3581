import type { Answer, Chunk } from './answer-shape'
import { type Call, type Json, isJson } from './call'
import type { Script, Step } from './script'

/** Anthropic's Messages format, in which this provider answers on its path. */
export const isMessages = ({ received }: Call) => received.path.endsWith('/messages')

const stopReasons: Record<string, string> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
}

const errorTypes: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
  529: 'overloaded_error',
}

/** An error body in Anthropic's words. */
export const messagesError = (status: number, message: string) => ({
  type: 'error',
  error: { type: errorTypes[status] ?? 'api_error', message },
  request_id: 'req_fake',
})

const toolChoiceOf = (choice: unknown): unknown => {
  if (!isJson(choice)) return undefined
  if (choice['type'] === 'any') return 'required'
  return choice['type'] === 'tool' ? { function: { name: choice['name'] } } : undefined
}

/** What of a request decides its answer, in the words of OpenAI. */
export function toChatRequest({ tools, tool_choice: choice, output_config: output }: Json): Json {
  const format = isJson(output) ? output['format'] : undefined
  const offered = Array.isArray(tools) ? tools.filter(isJson) : []
  return {
    tools: offered.map(({ name, input_schema: parameters }) => ({
      function: { name, parameters },
    })),
    tool_choice: toolChoiceOf(choice),
    ...(isJson(format) && {
      response_format: { type: 'json_schema', json_schema: { schema: format['schema'] } },
    }),
  }
}

const signature = 'c2lnbmVkIGJ5IHRoZSBmYWtlIHByb3ZpZGVy'

/** The blocks of one answer while its steps become events. */
class Events {
  readonly chunks: Chunk[] = []
  /** Kind of the block that is written, or the number of its call. */
  #kind: string | undefined
  #index = -1

  push(data: Json, tokens = 0, ends = false): void {
    this.chunks.push({ data, tokens, ends })
  }

  /** The block of that kind: the one that is written, or a new one after it. */
  open(kind: string, block: Json): number {
    if (this.#kind === kind) return this.#index
    this.close()
    this.#kind = kind
    this.#index += 1
    this.push({ type: 'content_block_start', index: this.#index, content_block: block })
    return this.#index
  }

  close(): void {
    if (this.#kind === undefined) return
    if (this.#kind === 'thinking') this.#delta({ type: 'signature_delta', signature })
    this.push({ type: 'content_block_stop', index: this.#index })
    this.#kind = undefined
  }

  #delta(delta: Json, tokens = 0): void {
    this.push({ type: 'content_block_delta', index: this.#index, delta }, tokens)
  }

  add({ delta, tokens }: Step): void {
    const { content, reasoning_content: thinking, tool_calls: calls } = delta
    if (typeof thinking === 'string') {
      this.open('thinking', { type: 'thinking', thinking: '', signature: '' })
      this.#delta({ type: 'thinking_delta', thinking }, tokens)
    }
    if (typeof content === 'string') {
      this.open('text', { type: 'text', text: '' })
      this.#delta({ type: 'text_delta', text: content }, tokens)
    }
    for (const call of Array.isArray(calls) ? calls.filter(isJson) : []) {
      const called = isJson(call['function']) ? call['function'] : {}
      const { id } = call
      this.open(`call ${String(call['index'])}`, {
        type: 'tool_use',
        id,
        name: called['name'],
        input: {},
      })
      this.#delta({ type: 'input_json_delta', partial_json: called['arguments'] }, tokens)
    }
  }
}

/** An answer as a stream of Anthropic's events. `own`: counts that the usage has beside the usual. */
export function messagesAnswer(call: Call, script: Script, own: Json | null = {}): Answer {
  const { attempt } = call
  const output = script.steps.reduce((sum, { tokens }) => sum + tokens, 0)
  const usage: Json = { input_tokens: attempt.promptTokens, output_tokens: output, ...own }
  const early = { ...usage, output_tokens: 1 }
  const message = {
    id: `msg_${attempt.id}`,
    type: 'message',
    role: 'assistant',
    model: attempt.model,
  }
  const events = new Events()
  events.push({
    type: 'message_start',
    message: { ...message, content: [], stop_reason: null, ...(own && { usage: early }) },
  })
  events.push({ type: 'ping' })
  for (const step of script.steps) events.add(step)
  events.close()
  const delta = { stop_reason: stopReasons[script.finishReason], stop_sequence: null }
  events.push(
    { type: 'message_delta', delta, ...(own && { usage: { output_tokens: output } }) },
    0,
    true,
  )
  events.push({ type: 'message_stop' })
  attempt.answered = true
  attempt.completionTokens = output
  return { stream: true, chunks: events.chunks, whole: message, usage, isNamed: true }
}
