import { readCacheControl, fitBreakpoints, maxBreakpoints } from '../../wire/cache-control'
import { isObject, type JsonObject, toList } from '../../wire/json-body'
import { lifetimeControl, type CacheLifetime } from '../prompt-caching'

/** Leaves the breakpoints that are taken in one request; `blocks` are in the order of the prompt. */
export function fitBlocks(blocks: readonly JsonObject[]): void {
  const marked = blocks.flatMap((block) => {
    const control = readCacheControl(block)
    return control ? [{ block, control }] : []
  })
  const fitting = fitBreakpoints(
    marked.map(({ control }) => control),
    maxBreakpoints,
  )
  for (const [position, { block }] of marked.entries()) {
    const control = fitting[position]
    if (control) block['cache_control'] = control
    else delete block['cache_control']
  }
}

const hasBreakpoint = (block: unknown): boolean =>
  isObject(block) &&
  (isObject(block['cache_control']) || toList(block['content']).some(hasBreakpoint))

/**
 * A request in the Messages format with breakpoints behind its tools, its instructions, and the last two
 * turns of the user; the same object where its client has set some.
 */
export function withAutomaticBreakpoints(body: JsonObject, lifetime: CacheLifetime): JsonObject {
  const { system, tools } = body
  const turns = toList(body['messages'])
  if ([body, ...toList(system), ...toList(tools), ...turns].some(hasBreakpoint)) return body
  const control = lifetimeControl(lifetime)
  const answer = turns.findLastIndex((turn) => isObject(turn) && turn['role'] === 'assistant')
  const carriers = [
    turns.slice(0, Math.max(0, answer)).findLastIndex(isUsers),
    turns.findLastIndex(isUsers),
  ]
  return {
    ...body,
    ...(tools !== undefined && { tools: withLast(tools, control) }),
    ...(system !== undefined && { system: withLast(system, control) }),
    messages: turns.map((turn, position) =>
      isObject(turn) && carriers.includes(position)
        ? { ...turn, content: withLast(turn['content'], control) }
        : turn,
    ),
  }
}

const isUsers = (turn: unknown) => isObject(turn) && turn['role'] === 'user'

/** The last of a list with a breakpoint; a text becomes a block, unless it is blank. */
function withLast(content: unknown, control: JsonObject): unknown {
  if (typeof content === 'string' && content.trim() !== '') {
    return [{ type: 'text', text: content, cache_control: control }]
  }
  const last: unknown = toList(content).at(-1)
  if (!isObject(last) || last['text'] === '') return content
  return [...toList(content).slice(0, -1), { ...last, cache_control: control }]
}
