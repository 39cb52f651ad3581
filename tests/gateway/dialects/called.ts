import { eventsIn, lastResponse } from './response-events'
import { readMessage } from '../../../server/testing/protocols/messages-events'
import { choicesOf, jsonOf, type Json } from '../../providers/conformance/fixture'
import {
  eventsOf,
  openFront,
  type Front,
  type ProviderRequest,
} from '../../providers/translated/front'
import type { Answer } from '../../harness/http'
import { upstreamSecret } from '../../harness/server'

/** Models of providers that speak chat, Messages, Responses, Gemini's format and Cohere's. */
export const model = 'groq/small'
export const claude = 'anthropic/claude-small'
export const responsesModel = 'openai/gpt-6-astra'
export const gemini = 'google/gemini-3-small'
export const command = 'cohere/command-a-03-2025'

/** A gateway with these models, whose providers are one server. */
export async function openCallingFront(): Promise<Front> {
  const front = await openFront((url) => ({
    GROQ_API_KEY: upstreamSecret,
    GROQ_BASE_URL: url,
    ANTHROPIC_API_KEY: upstreamSecret,
    ANTHROPIC_BASE_URL: url,
    OPENAI_API_KEY: upstreamSecret,
    OPENAI_BASE_URL: url,
    GOOGLE_API_KEY: upstreamSecret,
    GOOGLE_BASE_URL: url,
    CO_API_KEY: upstreamSecret,
    COHERE_BASE_URL: url,
  }))
  const limits = { context_length: 128_000, max_output_tokens: 16_384 }
  for (const name of [model, claude, gemini]) await front.price(name, limits)
  await front.price(responsesModel)
  return front
}

/** The formats of clients, each streamed and whole. */
export const doors = (['chat', 'messages', 'responses'] as const).flatMap((door) => [
  [door, 'streamed', true] as const,
  [door, 'whole', false] as const,
])
export type Door = (typeof doors)[number][0]

/** The calls that a client receives, whichever its format. */
export interface Received {
  calls: { id: unknown; name: unknown; text: string }[]
  text: string
  /** The finish or stop reason, or the status of a Response. */
  end: unknown
  answer: Answer
}

const parameters = { type: 'object', properties: { q: { type: 'integer' } } }

const forms: Record<Door, { path: string; body: Json }> = {
  chat: {
    path: '/v1/chat/completions',
    body: {
      messages: [{ role: 'user', content: 'Look.' }],
      tools: [{ type: 'function', function: { name: 'look', parameters } }],
    },
  },
  messages: {
    path: '/v1/messages',
    body: {
      max_tokens: 1000,
      messages: [{ role: 'user', content: 'Look.' }],
      tools: [{ name: 'look', input_schema: parameters }],
    },
  },
  responses: {
    path: '/v1/responses',
    body: { input: 'Look.', tools: [{ type: 'function', name: 'look', parameters }] },
  },
}

/** Sends a request with the tool `look`, and reads the answer as its client does. */
export async function receive(
  front: Front,
  door: Door,
  { model, stream, ...fields }: Json,
): Promise<Received> {
  const { path, body } = forms[door]
  const answer = await front.post(path, { ...body, model, stream, ...fields })
  if (answer.status !== 200) return { calls: [], text: '', end: answer.error.code, answer }
  const read = { chat: readChat, messages: readMessages, responses: readResponse }[door]
  return { ...read(answer, stream === true), answer }
}

type Read = Omit<Received, 'answer'>

const listOf = (value: unknown): Json[] => (Array.isArray(value) ? value.map(jsonOf) : [])

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const toCall = ({ id, function: called }: Json) => {
  const { name, arguments: text } = jsonOf(called)
  return { id, name, text: String(text) }
}

function readChat({ text, body }: Answer, isStream: boolean): Read {
  if (!isStream) {
    const [choice = {}] = choicesOf(body)
    const message = jsonOf(choice['message'])
    const calls = listOf(message['tool_calls']).map(toCall)
    return { calls, text: textOf(message['content']), end: choice['finish_reason'] }
  }
  const read: Read = { calls: [], text: '', end: undefined }
  const frames = text.split('\n\n').filter((frame) => frame.startsWith('data: {'))
  for (const frame of frames) {
    const [choice = {}] = choicesOf(jsonOf(JSON.parse(frame.slice('data: '.length))))
    const delta = jsonOf(choice['delta'])
    read.text += textOf(delta['content'])
    read.end = choice['finish_reason'] ?? read.end
    for (const entry of listOf(delta['tool_calls'])) {
      const call = read.calls[Number(entry['index'])]
      // The recorder judges the form of each delta.
      if (call) call.text += toCall(entry).text
      else read.calls.push(toCall(entry))
    }
  }
  return read
}

function readMessages({ text, body }: Answer, isStream: boolean): Read {
  const read = isStream ? readMessage(text) : undefined
  if (read && read.problems.length > 0) throw new Error(read.problems.join(', '))
  const content = read?.content ?? listOf(body['content'])
  return {
    calls: content
      .filter(({ type }) => type === 'tool_use')
      .map(({ id, name, input }) => ({
        id,
        name,
        text: typeof input === 'string' ? input : JSON.stringify(input),
      })),
    text: content.map(({ text: own = '' }) => String(own)).join(''),
    end: read ? read.stopReason : body['stop_reason'],
  }
}

function readResponse({ text, body }: Answer, isStream: boolean): Read {
  const { output, status } = isStream ? lastResponse(eventsIn(text)) : body
  const items = listOf(output)
  const contents = items.flatMap(({ content }) => listOf(content))
  return {
    calls: items
      .filter(({ type }) => type === 'function_call')
      .map(({ call_id: id, name, arguments: args }) => ({ id, name, text: String(args) })),
    text: contents.map(({ text: own = '' }) => String(own)).join(''),
    end: status,
  }
}

const usage = { prompt_tokens: 10, completion_tokens: 9, total_tokens: 19 }

/** One answer of an OpenAI-compatible provider: the deltas of its stream, and the calls of the whole answer. */
export interface ChatAnswer {
  deltas: readonly Json[]
  calls: readonly Json[]
  finish?: string
}

/** Answers as an OpenAI-compatible provider does. */
export const chatAnswer =
  ({ deltas, calls, finish = 'tool_calls' }: ChatAnswer) =>
  ({ body }: ProviderRequest): Response => {
    if (body['stream'] !== true) {
      const message = { role: 'assistant', content: null, tool_calls: calls }
      return Response.json({ choices: [{ index: 0, message, finish_reason: finish }], usage })
    }
    return eventsOf(
      ...deltas.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] })),
      { choices: [{ index: 0, delta: {}, finish_reason: finish }] },
      { choices: [], usage },
      '[DONE]',
    )
  }

/** A call of `look`, as a whole answer has it. */
export const lookCall = (args: string, id = 'call_1'): Json => ({
  id,
  type: 'function',
  function: { name: 'look', arguments: args },
})

/** An answer with calls that are whole in one delta each. */
export const wholeCalls = (calls: readonly Json[], finish?: string): ChatAnswer => ({
  deltas: calls.map((call, index) => ({ tool_calls: [{ index, ...call }] })),
  calls,
  ...(finish !== undefined && { finish }),
})
