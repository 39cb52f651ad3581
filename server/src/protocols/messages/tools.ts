import { onlyAnthropic, type Refuse } from './content'
import type { MessagesRequest, MessagesTool } from './schema'
import type { JsonObject } from '../../wire/json-body'

/** A breakpoint of the prompt cache on a tool that is left out moves to the one before it. */
function functionToolsOf(tools: readonly MessagesTool[]): MessagesTool[] {
  const functionTools: MessagesTool[] = []
  for (const tool of tools) {
    if (isOwn(tool)) functionTools.push(tool)
    else if (tool.cache_control && functionTools.length > 0) {
      functionTools.push({ ...functionTools.pop(), cache_control: tool.cache_control })
    }
  }
  return functionTools
}

/** Returns true for a tool that the client runs, whose schema it brings. */
export const isOwn = ({ type }: Pick<MessagesTool, 'type'>) => !type || type === 'custom'

/**
 * Returns the tools and the choice among them, as fields of a chat request. Tools that Anthropic runs
 * itself are left out where there are others, and refused where there are none, or where the choice
 * demands one of them.
 */
export function toToolFields(
  { tools, tool_choice: choice }: Pick<MessagesRequest, 'tools' | 'tool_choice'>,
  refuse: Refuse,
): JsonObject {
  if (!tools || tools.length === 0) return {}
  const functionTools = functionToolsOf(tools)
  if (functionTools.length === 0) {
    refuse(onlyAnthropic('tools', 'this model has no built-in tools. Send tools with a schema.'))
    return {}
  }
  if (choice?.type === 'tool' && !functionTools.some(({ name }) => name === choice.name)) {
    refuse(onlyAnthropic('tool_choice.name', `the tool "${choice.name}" is not in tools.`))
    return {}
  }
  const isSingle = choice?.type !== 'none' && choice?.disable_parallel_tool_use === true
  return {
    tools: functionTools.map(toFunction),
    ...(choice && { tool_choice: toChoice(choice) }),
    ...(isSingle && { parallel_tool_calls: false }),
  }
}

const toFunction = ({
  name,
  description,
  input_schema: parameters,
  strict,
  cache_control: control,
}: MessagesTool): JsonObject => ({
  type: 'function',
  function: {
    name,
    ...(description && { description }),
    parameters,
    ...(typeof strict === 'boolean' && { strict }),
  },
  ...(control && { cache_control: control }),
})

function toChoice(choice: NonNullable<MessagesRequest['tool_choice']>): unknown {
  switch (choice.type) {
    case 'any':
      return 'required'
    case 'tool':
      return { type: 'function', function: { name: choice.name } }
    default:
      return choice.type
  }
}
