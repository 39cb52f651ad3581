import { eventsIn, lastResponse } from './response-events'
import { readMessage } from '../../../server/testing/protocols/messages-events'
import { isObject, type JsonObject } from '../../../server/src/wire/json-body'
import { CollectedChat } from '../../../server/src/wire/collected-chat'
import { jsonOf, type Json } from '../../providers/conformance/fixture'
import type { Answer } from '../../harness/http'

/** A format of clients: how one asks in it, and goes on with what it was answered and the result of the call. */
export interface Door {
  path: string
  question: (model: string) => Json
  /** The request for the next answer, of a client that keeps all that it was told. */
  next: (asked: Json, answer: Answer) => Json
}

const listOf = (value: unknown): Json[] => (Array.isArray(value) ? value.map(jsonOf) : [])
const user = { role: 'user', content: 'Look.' }
const parameters = { type: 'object', properties: { q: { type: 'integer' } } }
const isStream = ({ stream }: Json) => stream === true

/** The message of a chat, of a stream the sum of its deltas. */
function messageIn(asked: Json, { text, body }: Answer): Json {
  if (!isStream(asked)) return jsonOf(listOf(body['choices'])[0]?.['message'])
  const collected = new CollectedChat()
  for (const frame of text.split('\n\n')) {
    if (!frame.startsWith('data: {')) continue
    const chunk: unknown = JSON.parse(frame.slice('data: '.length))
    if (isObject(chunk)) collected.add(chunk)
  }
  const [choice] = listOf(collected.complete()['choices'])
  return jsonOf(choice?.['message'])
}

const chat: Door = {
  path: '/v1/chat/completions',
  question: (model) => ({
    model,
    messages: [user],
    tools: [{ type: 'function', function: { name: 'look', parameters } }],
    reasoning_effort: 'medium',
  }),
  next: (asked, answer) => {
    const message = messageIn(asked, answer)
    const [call] = listOf(message['tool_calls'])
    const result = { role: 'tool', tool_call_id: call?.['id'], content: '42' }
    return { ...asked, messages: [user, message, result] }
  },
}

const outputIn = (asked: Json, { text, body }: Answer): Json[] =>
  listOf((isStream(asked) ? lastResponse(eventsIn(text)) : body)['output'])

const responses: Door = {
  path: '/v1/responses',
  question: (model) => ({
    model,
    input: [user],
    tools: [{ type: 'function', name: 'look', parameters }],
    reasoning: { effort: 'medium' },
    include: ['reasoning.encrypted_content'],
    store: false,
  }),
  next: (asked, answer) => {
    const output = outputIn(asked, answer)
    const call = output.find(({ type }) => type === 'function_call')
    const result = { type: 'function_call_output', call_id: call?.['call_id'], output: '42' }
    return { ...asked, input: [user, ...output, result] }
  },
}

function contentIn(asked: Json, { text, body }: Answer): JsonObject[] {
  if (!isStream(asked)) return listOf(body['content'])
  const { content, problems } = readMessage(text)
  if (problems.length > 0) throw new Error(problems.join('\n'))
  return content
}

const messages: Door = {
  path: '/v1/messages',
  question: (model) => ({
    model,
    max_tokens: 8000,
    messages: [user],
    tools: [{ name: 'look', input_schema: parameters }],
    thinking: { type: 'enabled', budget_tokens: 2000 },
  }),
  next: (asked, answer) => {
    const content = contentIn(asked, answer)
    const call = content.find(({ type }) => type === 'tool_use')
    const result = { type: 'tool_result', tool_use_id: call?.['id'], content: '42' }
    return {
      ...asked,
      messages: [user, { role: 'assistant', content }, { role: 'user', content: [result] }],
    }
  },
}

export const doors: Readonly<Record<string, Door>> = { chat, responses, messages }
