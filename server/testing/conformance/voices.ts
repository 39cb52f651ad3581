import { isObject, toObjects, type JsonObject } from '../../src/wire/json-body'
import { google } from './google-voice'
import {
  blocks,
  idOf,
  isCalling,
  names,
  nullsOf,
  outputOf,
  counts,
  type Block,
  type Voice,
  type VoicedAnswer,
} from './voiced-answer'

const { input, cached, thought: thoughts } = counts

const chunk = (delta: JsonObject, finish_reason: string | null = null): JsonObject => ({
  choices: [{ index: 0, delta, finish_reason }],
})

const openai: Voice = (answer) => {
  const deltas = blocks(answer).map((block): JsonObject => {
    if (block.kind === 'thought') return { reasoning_content: block.value }
    if (block.kind === 'text') return { content: block.value }
    const called = { name: names[block.call], arguments: block.value }
    return { tool_calls: [{ index: block.call, id: idOf(block.call), function: called }] }
  })
  const finishes = {
    stop: 'stop',
    length: 'length',
    filter: 'content_filter',
    unknown: 'weather',
  }
  const written = outputOf(answer)
  const usage = written !== undefined && {
    prompt_tokens: input + cached,
    completion_tokens: written + thoughts,
    total_tokens: input + cached + written + thoughts,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens_details: { reasoning_tokens: thoughts },
  }
  const { cites, isStrange } = answer
  if (cites) deltas.push({ annotations: [{ type: 'url_citation', url_citation: { url: cites } }] })
  const events = deltas.map((delta) => chunk(delta))
  const beside = nullsOf(answer, 'role', 'content', 'reasoning_content', 'refusal', 'tool_calls')
  for (const event of events) {
    for (const choice of toObjects(event['choices'])) {
      choice['delta'] = { ...beside, ...(isObject(choice['delta']) && choice['delta']) }
    }
  }
  if (isStrange) events.unshift({ object: 'weather', forecast: [1] }, chunk({ weather: { at: 7 } }))
  if (answer.isFailing) events.push({ error: { message: 'Oops.', type: 'server_error' } })
  if (!answer.finish) return events
  const last = chunk({}, finishes[answer.finish])
  return usage ? [...events, last, { choices: [], usage }] : [...events, last]
}

const anthropicDelta = ({ kind, value }: Block): JsonObject => {
  if (kind === 'thought') return { type: 'thinking_delta', thinking: value }
  if (kind === 'text') return { type: 'text_delta', text: value }
  return { type: 'input_json_delta', partial_json: value }
}

/** Returns the events of one block. */
function anthropicBlock(answer: VoicedAnswer, block: Block, index: number): JsonObject[] {
  const types = { thought: 'thinking', text: 'text', call: 'tool_use' }
  const own =
    block.kind === 'call' ? { id: idOf(block.call), name: names[block.call], input: {} } : {}
  const shown = answer.hasNulls ? {} : { text: '', thinking: '' }
  const fields = ['id', 'name', 'input', 'text', 'thinking', 'signature', 'data', 'citations']
  const content_block = {
    type: types[block.kind],
    ...shown,
    ...nullsOf(answer, ...fields),
    ...own,
  }
  const citation = { type: 'web_search_result_location', url: answer.cites, cited_text: 'x' }
  const citing = {
    type: 'content_block_delta',
    index,
    delta: { type: 'citations_delta', citation },
  }
  return [
    { type: 'content_block_start', index, content_block },
    ...(answer.cites ? [citing] : []),
    {
      type: 'content_block_delta',
      index,
      delta: {
        ...nullsOf(answer, 'text', 'thinking', 'signature', 'partial_json', 'citation'),
        ...anthropicDelta(block),
      },
    },
    { type: 'content_block_stop', index },
  ]
}

const anthropic: Voice = (answer) => {
  const events = blocks(answer).flatMap((block, index) => anthropicBlock(answer, block, index))
  const written = outputOf(answer)
  const usage = { input_tokens: input, cache_read_input_tokens: cached, output_tokens: 1 }
  const message = { id: 'm', content: [], ...(written !== undefined && { usage }) }
  const start = { type: 'message_start', message }
  const failure = { type: 'error', error: { type: 'api_error', message: 'Oops.' } }
  if (answer.isFailing) events.push(failure)
  if (answer.isStrange) {
    const content_block = { type: 'weather', id: 7, text: {} }
    const delta = { type: 'weather_delta', text: 7 }
    events.push(
      { type: 'weather', index: 'none' },
      { type: 'content_block_start', index: 9, content_block },
      { type: 'content_block_delta', index: 9, delta },
      { type: 'content_block_stop', index: 9 },
    )
  }
  if (!answer.finish) return [start, ...events]
  const finishes = {
    stop: 'end_turn',
    length: 'max_tokens',
    filter: 'refusal',
    unknown: 'weather',
  }
  const delta = { stop_reason: isCalling(answer) ? 'tool_use' : finishes[answer.finish] }
  const output_tokens_details = { thinking_tokens: thoughts }
  const counted = written !== undefined && {
    output_tokens: written + thoughts,
    output_tokens_details,
  }
  const last = { type: 'message_delta', delta, usage: counted || {} }
  return [start, ...events, last, { type: 'message_stop' }]
}

const bedrock: Voice = (answer) => {
  const events = blocks(answer).flatMap((block, contentBlockIndex): JsonObject[] => {
    const beside = nullsOf(answer, 'text', 'toolUse', 'citation', 'reasoningContent')
    const delta = (own: JsonObject) => ({
      contentBlockDelta: { contentBlockIndex, delta: { ...beside, ...own } },
    })
    const stop = { contentBlockStop: { contentBlockIndex } }
    if (block.kind === 'thought') return [delta({ reasoningContent: { text: block.value } }), stop]
    const citation = { title: 'A', location: { web: { url: answer.cites, domain: 'a.example' } } }
    if (block.kind === 'text') {
      return [delta({ text: block.value }), ...(answer.cites ? [delta({ citation })] : []), stop]
    }
    const toolUse = { toolUseId: idOf(block.call), name: names[block.call] }
    const start = { contentBlockStart: { contentBlockIndex, start: { toolUse } } }
    return [start, delta({ toolUse: { input: block.value } }), stop]
  })
  if (answer.isStrange) {
    const delta = { weather: { at: 7 } }
    events.push({ weather: { at: 7 } }, { contentBlockDelta: { contentBlockIndex: 9, delta } })
  }
  // The form in which the reader of the event stream writes it.
  const exception = { type: 'internalServerException', words: '{"message":"Oops."}' }
  if (answer.isFailing) events.push({ exception })
  if (!answer.finish) return events
  const finishes = {
    stop: 'end_turn',
    length: 'max_tokens',
    filter: 'content_filtered',
    unknown: 'weather',
  }
  const stopReason = isCalling(answer) ? 'tool_use' : finishes[answer.finish]
  const written = outputOf(answer)
  const usage = { inputTokens: input, cacheReadInputTokens: cached, outputTokens: written }
  const metadata = written === undefined ? {} : { usage }
  return [...events, { messageStop: { stopReason } }, { metadata }]
}

const cohere: Voice = (answer) => {
  const events = blocks(answer).flatMap((block): JsonObject[] => {
    if (block.kind !== 'call') {
      const beside = nullsOf(answer, 'text', 'thinking')
      const content = block.kind === 'text' ? { text: block.value } : { thinking: block.value }
      const delta = { message: { content: { ...beside, ...content } } }
      return [{ type: 'content-delta', index: 0, delta }]
    }
    const index = block.call
    const called = { name: names[index], arguments: block.value }
    const tool_calls = { id: idOf(index), type: 'function', function: called }
    return [
      { type: 'tool-call-start', index, delta: { message: { tool_calls } } },
      { type: 'tool-call-end', index },
    ]
  })
  const sources = [{ type: 'document', id: '1', document: { url: answer.cites } }]
  const citations = { start: 0, end: 1, sources }
  if (answer.cites)
    events.push({ type: 'citation-start', index: 0, delta: { message: { citations } } })
  if (answer.isStrange) events.push({ type: 'weather', index: 'none', delta: 7 })
  if (answer.isFailing) events.push({ id: '2', message: 'internal server error' })
  if (!answer.finish) return events
  const finishes = {
    stop: 'COMPLETE',
    length: 'MAX_TOKENS',
    filter: 'ERROR_TOXIC',
    unknown: 'WEATHER',
  }
  const finish_reason = isCalling(answer) ? 'TOOL_CALL' : finishes[answer.finish]
  const written = outputOf(answer)
  const billed_units = { input_tokens: input, output_tokens: written }
  const usage = written === undefined ? undefined : { billed_units }
  return [...events, { type: 'message-end', delta: { finish_reason, usage } }]
}

const responses: Voice = (answer) => {
  const events = blocks(answer).flatMap((block, output_index): JsonObject[] => {
    if (block.kind === 'text') {
      return [{ type: 'response.output_text.delta', output_index, delta: block.value }]
    }
    if (block.kind === 'thought') {
      return [{ type: 'response.reasoning_summary_text.delta', output_index, delta: block.value }]
    }
    const call_id = idOf(block.call)
    const item = {
      ...nullsOf(answer, 'id', 'input', 'encrypted_content', 'status'),
      type: 'function_call',
      call_id,
      name: names[block.call],
      arguments: '',
    }
    const done = { ...item, arguments: block.value }
    const delta = { type: 'response.function_call_arguments.delta', output_index }
    return [
      { type: 'response.output_item.added', output_index, item },
      { ...delta, delta: block.value },
      { type: 'response.output_item.done', output_index, item: done },
    ]
  })
  const annotation = { type: 'url_citation', url: answer.cites }
  const added = { type: 'response.output_text.annotation.added', output_index: 0, annotation }
  if (answer.cites) events.push(added)
  if (answer.isStrange) {
    const item = { type: 'weather_call', id: null, name: 7, arguments: { at: 7 } }
    events.push(
      { type: 'response.weather', delta: 7 },
      { type: 'response.output_item.added', output_index: 9, item },
      { type: 'response.output_item.done', output_index: 9, item },
    )
  }
  if (answer.isFailing) events.push({ type: 'error', code: 'server_error', message: 'Oops.' })
  if (!answer.finish) return events
  const written = outputOf(answer)
  const usage = written !== undefined && {
    input_tokens: input + cached,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: written + thoughts,
    output_tokens_details: { reasoning_tokens: thoughts },
  }
  const reasons = {
    stop: undefined,
    length: 'max_output_tokens',
    filter: 'content_filter',
    unknown: 'weather',
  }
  const reason = reasons[answer.finish]
  const status = reason === undefined ? 'completed' : 'incomplete'
  const incomplete_details = reason === undefined ? null : { reason }
  const beside = nullsOf(answer, 'error', 'service_tier', 'user')
  const response = { ...beside, status, incomplete_details, ...(usage && { usage }) }
  return [...events, { type: `response.${status}`, response }]
}

export const voices = { openai, anthropic, google, bedrock, cohere, responses }
