import type { Content, Item } from './items'
import { isCallable, type ResponsesRequest } from './request'
import { thoughtsIn } from './thoughts'
import type { JsonObject } from '../../wire/json-body'

/**
 * What a request says that a chat request cannot, for a provider of this format: its input, tools with
 * their grammars, what the text is to be, and the summary of thoughts. Tools of OpenAI's are left out
 * as they are of the chat.
 */
export function toOriginal(request: ResponsesRequest): JsonObject {
  const { input, instructions, text, reasoning } = request
  return {
    input: typeof input === 'string' ? input : input.flatMap(toItem),
    ...(instructions && { instructions }),
    ...(text && { text }),
    ...(reasoning?.summary && { reasoning: { summary: reasoning.summary } }),
    ...toTools(request),
  }
}

/** Ids of items name what is kept, and nothing is. */
function toItem(item: Item): JsonObject[] {
  if (item.type === 'reasoning') return toThoughts(item)
  const { id: _id, ...rest } = item
  if ('output' in rest && Array.isArray(rest.output)) {
    return [{ ...rest, output: rest.output.map((part) => toContent(part, false)) }]
  }
  if (!('content' in rest) || !Array.isArray(rest.content)) return [rest]
  const isOwn = rest.role === 'assistant'
  return [{ ...rest, content: rest.content.map((part) => toContent(part, isOwn)) }]
}

/** A part as it was checked and is held for, without what else it may name. */
function toContent(part: Content, isOwn: boolean): JsonObject {
  switch (part.type) {
    case 'input_image': {
      const { file_id: _id, ...image } = part
      // The finest detail reads more tokens than images are held for.
      return part.detail === 'original' ? { ...image, detail: 'high' } : image
    }
    case 'input_file': {
      const { file_url: _url, file_id, ...file } = part
      return part.file_data ? file : { ...file, file_id }
    }
    case 'text':
      return { ...part, type: isOwn ? 'output_text' : 'input_text' }
    default:
      return part
  }
}

/** OpenAI's own thoughts, as it gave them; it cannot read those of others. */
const toThoughts = (item: JsonObject): JsonObject[] =>
  thoughtsIn(item).flatMap(({ format, data, id }) => {
    if (format !== 'openai-responses-v1') return []
    const named = typeof id === 'string' ? { id } : {}
    return [{ type: 'reasoning', ...named, summary: [], encrypted_content: data }]
  })

function toTools(request: ResponsesRequest): JsonObject {
  const { tools, tool_choice: choice, parallel_tool_calls: isParallel } = request
  const callable = (tools ?? []).filter(({ type }) => isCallable(type))
  if (callable.length === 0) return {}
  return {
    tools: callable,
    ...(choice && { tool_choice: toChoice(choice) }),
    ...(typeof isParallel === 'boolean' && { parallel_tool_calls: isParallel }),
  }
}

function toChoice(choice: NonNullable<ResponsesRequest['tool_choice']>): unknown {
  if (typeof choice === 'string' || choice.type !== 'allowed_tools') return choice
  const tools = (choice.tools ?? []).filter(({ type }) => isCallable(type))
  return { ...choice, mode: choice.mode ?? 'auto', tools }
}
