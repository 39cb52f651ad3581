import type { Json } from '../../providers/conformance/fixture'
import { eventsOf, type ProviderRequest } from '../../providers/translated/front'

export const args = '{"city":"Oslo"}'
export const call = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'weather' }
export const thought = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'Z0FBQUFB' }
export const usage = { input_tokens: 100, output_tokens: 30, total_tokens: 130 }

/** An answer of OpenAI's own interface, whole or as a stream. */
export function answerOf({ body }: ProviderRequest, ...output: Json[]): Response {
  const response = { id: 'resp_1', object: 'response', status: 'completed', model: 'theirs' }
  if (body['stream'] !== true) return Response.json({ ...response, output, usage })
  const items = output.flatMap((item, output_index) => [
    { type: 'response.output_item.added', output_index, item },
    { type: 'response.output_item.done', output_index, item },
  ])
  const events: Json[] = [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
    ...items,
    { type: 'response.completed', response: { ...response, output, usage } },
  ]
  return eventsOf(...events.map((event, sequence_number) => ({ ...event, sequence_number })))
}

/** A thought that it encrypted, then a call. */
export const byOpenAi = (seen: ProviderRequest) =>
  answerOf(seen, thought, { ...call, arguments: args })

export const patch = '*** Begin Patch'

/** An answer that calls a tool with free text. */
export const byCustomCall = (seen: ProviderRequest) =>
  answerOf(seen, {
    type: 'custom_tool_call',
    id: 'ctc_1',
    call_id: 'call_2',
    name: 'write',
    input: patch,
  })
