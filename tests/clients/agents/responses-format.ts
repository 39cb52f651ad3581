import { listOf, objectOf, textIn, type TurnRequest, type OfferedTool, type Turn } from './scenes'
import { toTypedEvents, type Format } from './format'

type Json = Record<string, unknown>

function toolsIn(list: unknown, namespace?: string): OfferedTool[] {
  return listOf(list).flatMap((tool): OfferedTool[] => {
    const name = String(tool['name'])
    if (tool['type'] === 'namespace') return toolsIn(tool['tools'], name)
    const within = namespace === undefined ? {} : { namespace }
    if (tool['type'] === 'custom') return [{ name, isCustom: true, parameters: {}, ...within }]
    if (tool['type'] !== 'function') return []
    return [{ name, parameters: objectOf(tool['parameters']), ...within }]
  })
}

function read(body: Json): TurnRequest {
  const { input } = body
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : listOf(input)
  const outputs = items.filter((item) => String(item['type']).endsWith('_output'))
  return {
    text: items
      .filter((item) => item['role'] === 'user')
      .map(({ content }) => textIn(content))
      .join('\n'),
    results: outputs.map((item) => textIn(item['output'])),
    tools: [...toolsIn(body['tools']), ...items.flatMap((item) => toolsIn(item['tools']))],
    isStreamed: body['stream'] === true,
  }
}

function itemOf(turn: Turn): Json {
  if ('text' in turn) {
    const content = [{ type: 'output_text', text: turn.text, annotations: [] }]
    return { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content }
  }
  const { name, namespace, isCustom } = turn.tool
  if (isCustom) {
    const within = namespace === undefined ? {} : { namespace }
    const call = {
      id: 'ctc_1',
      type: 'custom_tool_call',
      status: 'completed',
      call_id: `call_${crypto.randomUUID()}`,
    }
    return { ...call, name, input: turn.input['program'], ...within }
  }
  return {
    id: 'fc_1',
    type: 'function_call',
    status: 'completed',
    call_id: `call_${crypto.randomUUID()}`,
    name,
    arguments: JSON.stringify(turn.input),
    ...(namespace !== undefined && { namespace }),
  }
}

const base = {
  id: 'resp_1',
  object: 'response',
  created_at: 1_795_000_000,
  model: 'fake',
  error: null,
  incomplete_details: null,
  parallel_tool_calls: true,
  tool_choice: 'auto',
  tools: [],
}
const usage = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 10,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 110,
}

type ResponseEvent = Json & { type: string }

/** Returns the events between an item's beginning and its end. */
function partsOf(turn: Turn, item: Json): ResponseEvent[] {
  const place = { output_index: 0, item_id: item['id'] }
  if ('text' in turn) {
    const [part] = listOf(item['content'])
    const within = { ...place, content_index: 0 }
    const { text } = turn
    return [
      { type: 'response.content_part.added', ...within, part: { ...part, text: '' } },
      { type: 'response.output_text.delta', ...within, delta: text, logprobs: [] },
      { type: 'response.output_text.done', ...within, text, logprobs: [] },
      { type: 'response.content_part.done', ...within, part },
    ]
  }
  if (turn.tool.isCustom) {
    const { input } = item
    return [
      { type: 'response.custom_tool_call_input.delta', ...place, delta: input },
      { type: 'response.custom_tool_call_input.done', ...place, input },
    ]
  }
  const { name, arguments: written } = item
  return [
    { type: 'response.function_call_arguments.delta', ...place, delta: written },
    { type: 'response.function_call_arguments.done', ...place, name, arguments: written },
  ]
}

/** Returns an item as it begins, without its content. */
function emptied(turn: Turn): Json {
  if ('text' in turn) return { content: [] }
  return turn.tool.isCustom ? { input: '' } : { arguments: '' }
}

function write(turn: Turn, isStreamed: boolean): Response {
  const item = itemOf(turn)
  const whole = { ...base, status: 'completed', output: [item], usage }
  if (!isStreamed) return Response.json(whole)
  const begun = { ...base, status: 'in_progress', output: [] }
  const first = { ...item, ...emptied(turn), status: 'in_progress' }
  const events: ResponseEvent[] = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    { type: 'response.output_item.added', output_index: 0, item: first },
    ...partsOf(turn, item),
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: whole },
  ]
  return toTypedEvents(events.map((event, sequence_number) => ({ ...event, sequence_number })))
}

/** The Responses API of OpenAI. */
export const responsesFormat: Format = {
  read,
  write,
  tooLong: () =>
    Response.json(
      {
        error: {
          message:
            'Your input exceeds the context window of this model. Please adjust your input and try again.',
          type: 'invalid_request_error',
          param: 'input',
          code: 'context_length_exceeded',
        },
      },
      { status: 400 },
    ),
}
