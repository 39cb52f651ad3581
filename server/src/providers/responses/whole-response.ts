import { isObject, type JsonObject, toObjects, toText } from '../../wire/json-body'
import { readNamedFrame } from '../../wire/sse'

type Event = JsonObject & { type: string }

/** The events of a stream that a whole Response stands for; a body that is none stands for itself. */
export function toResponseEvents(whole: JsonObject): JsonObject[] {
  const { output, status } = whole
  if (!Array.isArray(output)) return [whole]
  const response = { ...whole, status: 'in_progress', output: [], usage: null }
  const events: Event[] = [
    { type: 'response.created', response },
    { type: 'response.in_progress', response },
    ...toObjects(output).flatMap(toItemEvents),
    { type: `response.${toText(status) || 'completed'}`, response: whole },
  ]
  return events.map((event, sequence_number) => ({ ...event, sequence_number }))
}

function toItemEvents(item: JsonObject, output_index: number): Event[] {
  const place = { item_id: item['id'], output_index }
  const { begun, events } = divide(item, place)
  return [
    { type: 'response.output_item.added', output_index, item: { ...item, ...begun } },
    ...events,
    { type: 'response.output_item.done', output_index, item },
  ]
}

/** The fields of an item as it begins, and the events that make it whole. */
function divide(item: JsonObject, place: JsonObject): { begun: JsonObject; events: Event[] } {
  switch (item['type']) {
    case 'message':
      return {
        begun: { status: 'in_progress', content: [] },
        events: toObjects(item['content']).flatMap((part, content_index) =>
          toPartEvents(part, { ...place, content_index }),
        ),
      }
    case 'reasoning':
      return {
        begun: { summary: [] },
        events: toObjects(item['summary']).flatMap((part, summary_index) =>
          toSummaryEvents(toText(part['text']), { ...place, summary_index }),
        ),
      }
    case 'function_call': {
      const text = toText(item['arguments'])
      const type = 'response.function_call_arguments'
      return {
        begun: { status: 'in_progress', arguments: '' },
        events: [
          { type: `${type}.delta`, ...place, delta: text },
          { type: `${type}.done`, ...place, arguments: text },
        ],
      }
    }
    default:
      return { begun: {}, events: [] }
  }
}

function toPartEvents(part: JsonObject, place: JsonObject): Event[] {
  const isRefusal = part['type'] === 'refusal'
  const [name, field] = isRefusal
    ? ['response.refusal', 'refusal']
    : ['response.output_text', 'text']
  const text = toText(part[field])
  const begun = { ...part, [field]: '', ...(!isRefusal && { annotations: [] }) }
  const annotations = toObjects(part['annotations']).map((annotation, annotation_index) => ({
    type: 'response.output_text.annotation.added',
    ...place,
    annotation_index,
    annotation,
  }))
  return [
    { type: 'response.content_part.added', ...place, part: begun },
    { type: `${name}.delta`, ...place, delta: text },
    ...annotations,
    { type: `${name}.done`, ...place, [field]: text },
    { type: 'response.content_part.done', ...place, part },
  ]
}

function toSummaryEvents(text: string, place: JsonObject): Event[] {
  const part = { type: 'summary_text', text }
  return [
    { type: 'response.reasoning_summary_part.added', ...place, part: { ...part, text: '' } },
    { type: 'response.reasoning_summary_text.delta', ...place, delta: text },
    { type: 'response.reasoning_summary_text.done', ...place, text },
    { type: 'response.reasoning_summary_part.done', ...place, part },
  ]
}

/** Returns the Response that the frames of a stream end in; its items, where it repeats none, are those that came. */
export function collectResponse(frames: readonly string[]): JsonObject {
  let response: JsonObject = {}
  const items: JsonObject[] = []
  for (const frame of frames) {
    const event = readNamedFrame(frame)
    if (isObject(event['response'])) response = event['response']
    if (event['type'] === 'response.output_item.done' && isObject(event['item']))
      items.push(event['item'])
  }
  return toObjects(response['output']).length > 0 ? response : { ...response, output: items }
}
