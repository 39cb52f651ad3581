import type { HistoryRow, Outcome, Said } from './conversation'
import type { NewMessage } from './schema'
import type { SessionRow } from './session-rows'
import { storable } from '../db/storable'
import { invalidRequest } from '../errors'
import { isObject, type JsonObject } from '../wire/json-body'
import { completionTokens, promptTokens, type Usage } from '../wire/usage'

/** A message of the model wire. */
const toWire = ({ role, content, tool_calls, tool_call_id }: HistoryRow): JsonObject => ({
  role,
  content,
  ...(tool_calls && { tool_calls }),
  ...(tool_call_id !== null && { tool_call_id }),
})

/** The chat that a message stands for: the whole session, then the message. */
export function chatOf(
  session: SessionRow,
  history: readonly HistoryRow[],
  message: NewMessage,
): JsonObject {
  const { role, content, stream, temperature, max_tokens } = message
  const prompt = session.system_prompt
  return {
    model: session.model_id,
    messages: [
      ...(prompt ? [{ role: 'system', content: prompt }] : []),
      ...history.map(toWire),
      { role, content },
    ],
    ...(typeof temperature === 'number' && { temperature }),
    ...(typeof max_tokens === 'number' && { max_tokens }),
    ...(stream && { stream }),
  }
}

/** A chat as the gateway reads it. Throws `invalid_request` where it is too long to be read. */
export function readAs(chat: JsonObject, limitBytes: number) {
  const bytes = Buffer.byteLength(JSON.stringify(chat))
  if (bytes > limitBytes) {
    const words = `messages: the session has grown to ${bytes} bytes, more than can be sent.`
    throw invalidRequest('messages', 'too_long', words)
  }
  return { body: chat, bytes }
}

const allStorable = (_name: string, value: unknown) =>
  typeof value === 'string' ? storable(value) : value

/** What an answer said, undefined where it broke off before that. */
function answered(answer: JsonObject, tokens: number): Said | undefined {
  const choice: unknown = Array.isArray(answer['choices']) ? answer['choices'][0] : undefined
  if (!isObject(choice) || !isObject(choice['message'])) return undefined
  const { content, refusal, tool_calls } = choice['message']
  const said = [content, refusal].find((text) => typeof text === 'string')
  const calls = Array.isArray(tool_calls) ? tool_calls.filter(isObject) : []
  const isWhole = typeof choice['finish_reason'] === 'string'
  if (said === undefined && calls.length === 0 && !isWhole) return undefined
  const toolCalls: object[] = JSON.parse(JSON.stringify(calls, allStorable))
  return {
    role: 'assistant',
    // An answer of nothing is one, and a message has to have something.
    content: typeof said === 'string' ? storable(said) : calls.length > 0 ? null : '',
    toolCalls: toolCalls.length > 0 ? toolCalls : undefined,
    tokens,
  }
}

/** The part of a prompt's tokens that its last message is, by its length among all of them. */
function shareOf(messages: unknown, content: string, tokens: number): number {
  const all = Array.isArray(messages) ? messages.filter(isObject) : []
  const lengths = all.map((one) => (typeof one['content'] === 'string' ? one['content'].length : 0))
  const whole = lengths.reduce((sum, length) => sum + length, 0)
  return whole === 0 ? tokens : Math.round((tokens * content.length) / whole)
}

interface Ended {
  chat: JsonObject
  message: NewMessage
  answer: JsonObject
  usage: Usage | undefined
  cost: bigint
}

/** What is kept of a call that ended: nothing is said where there was no answer at all. */
export function outcomeOf({ chat, message, answer, usage, cost }: Ended): Outcome {
  const inputTokens = usage ? promptTokens(usage) : 0
  const outputTokens = usage ? completionTokens(usage) : 0
  const said = answered(answer, outputTokens)
  const { role, content } = message
  const tokens = shareOf(chat['messages'], content, inputTokens)
  const messages = said ? [{ role, content, tokens }, said] : []
  return { messages, inputTokens, outputTokens, cost }
}
