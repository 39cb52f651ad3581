import { listOf, objectOf, textIn, type TurnRequest, type Turn } from './scenes'
import { toTypedEvents, type Format } from './format'

const head = { id: 'msg_1', type: 'message', role: 'assistant', model: 'fake' }

function read(body: Record<string, unknown>): TurnRequest {
  const users = listOf(body['messages']).filter((message) => message['role'] === 'user')
  const results = users
    .flatMap(({ content }) => listOf(content))
    .filter((block) => block['type'] === 'tool_result')
  return {
    text: users.map(({ content }) => textIn(content)).join('\n'),
    results: results.map(({ content }) => textIn(content)),
    tools: listOf(body['tools']).map(({ name, input_schema }) => ({
      name: String(name),
      parameters: objectOf(input_schema),
    })),
    isStreamed: body['stream'] === true,
  }
}

function write(turn: Turn, isStreamed: boolean): Response {
  const isText = 'text' in turn
  const block = isText
    ? { type: 'text', text: turn.text }
    : {
        type: 'tool_use',
        id: `toolu_${crypto.randomUUID().replaceAll('-', '')}`,
        name: turn.tool.name,
        input: turn.input,
      }
  const stop_reason = isText ? 'end_turn' : 'tool_use'
  const usage = { input_tokens: 100, output_tokens: 10 }
  if (!isStreamed) {
    return Response.json({ ...head, content: [block], stop_reason, stop_sequence: null, usage })
  }
  const delta = isText
    ? { type: 'text_delta', text: turn.text }
    : { type: 'input_json_delta', partial_json: JSON.stringify(turn.input) }
  const empty = isText ? { ...block, text: '' } : { ...block, input: {} }
  const message = { ...head, content: [], stop_reason: null, stop_sequence: null, usage }
  return toTypedEvents([
    { type: 'message_start', message },
    { type: 'content_block_start', index: 0, content_block: empty },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason, stop_sequence: null },
      usage: { output_tokens: 10 },
    },
    { type: 'message_stop' },
  ])
}

/** The Messages API of Anthropic. */
export const messagesFormat: Format = {
  read,
  write,
  tooLong: () =>
    Response.json(
      {
        type: 'error',
        error: {
          type: 'invalid_request_error',
          message: 'prompt is too long: 250000 tokens > 200000 maximum',
        },
      },
      { status: 400 },
    ),
}
