import type { ResponsesItem, ResponsesItemOf } from './items'
import type { CallerTool, ToolKind } from './tool-kinds'
import { toCustomArguments } from '../../wire/custom-tools'
import { isObject, type JsonObject, toText } from '../../wire/json-body'
import { eventShape } from '../../wire/json-shape'
import { parseShaped } from '../../wire/json-slices'

export type ResponsesCall = ResponsesItemOf<
  | 'function_call'
  | 'custom_tool_call'
  | 'shell_call'
  | 'local_shell_call'
  | 'apply_patch_call'
  | 'tool_search_call'
>

const callTypes: ReadonlySet<unknown> = new Set<ResponsesCall['type']>([
  'function_call',
  'custom_tool_call',
  'shell_call',
  'local_shell_call',
  'apply_patch_call',
  'tool_search_call',
])
export const isCall = (item: ResponsesItem): item is ResponsesCall => callTypes.has(item.type)

/** A call of a history: of which tool, with which arguments. */
export interface ConvertedCall {
  tool: CallerTool
  arguments: string
}

/** A call of any type as one of the function that stands for its tool. */
export function toFunctionCall(item: ResponsesCall): ConvertedCall {
  switch (item.type) {
    case 'function_call':
      return { tool: namedCall('function', item), arguments: item.arguments }
    case 'custom_tool_call':
      return { tool: namedCall('custom', item), arguments: toCustomArguments(item.input) }
    case 'shell_call':
      return { tool: builtIn('shell'), arguments: toArguments(item.action) }
    case 'local_shell_call': {
      const { type: _type, ...action } = item.action
      return { tool: builtIn('local_shell'), arguments: toArguments(action) }
    }
    case 'apply_patch_call':
      return { tool: builtIn('apply_patch'), arguments: toArguments({ operation: item.operation }) }
    case 'tool_search_call':
    default:
      return { tool: builtIn('tool_search'), arguments: searchArguments(item.arguments) }
  }
}

const namedCall = (
  kind: ToolKind,
  { name, namespace }: ResponsesItemOf<'function_call' | 'custom_tool_call'>,
) => ({
  kind,
  name,
  ...(namespace && { namespace }),
})

const builtIn = (kind: ToolKind): CallerTool => ({ kind, name: kind })

/** Leaves out fields that are null: they were not set. */
const toArguments = (fields: JsonObject) =>
  JSON.stringify(Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)))

const searchArguments = (query: unknown) =>
  typeof query === 'string' ? query : JSON.stringify(query ?? {})

/** The prefix of the id of an item that calls a tool of that kind. */
export const idPrefix: Readonly<Record<ToolKind, string>> = {
  function: 'fc',
  custom: 'ctc',
  shell: 'sh',
  local_shell: 'lsh',
  apply_patch: 'apc',
  tool_search: 'tsc',
}

/** Returns the fields of a built-in tool's call beside its ids, for arguments that a model made. */
export function toCallFields(kind: ToolKind, args: string): JsonObject {
  const read = objectIn(args)
  switch (kind) {
    case 'shell':
      return { type: 'shell_call', action: toShellAction(read), environment: { type: 'local' } }
    case 'local_shell':
      return { type: 'local_shell_call', action: toExec(read) }
    case 'apply_patch':
      return { type: 'apply_patch_call', operation: toOperation(read['operation'] ?? read) }
    default:
      return { type: 'tool_search_call', execution: 'client', arguments: read }
  }
}

/** Returns an empty object for unreadable arguments: no client runs half a command. */
function objectIn(args: string): JsonObject {
  try {
    const read: unknown = parseShaped(args, eventShape)
    return isObject(read) ? read : {}
  } catch {
    return {}
  }
}

const textsIn = (value: unknown): string[] => {
  if (typeof value === 'string') return [value]
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}
const countIn = (value: unknown) => (typeof value === 'number' ? value : null)
const toShellAction = ({ commands, timeout_ms, max_output_length }: JsonObject) => ({
  commands: textsIn(commands),
  timeout_ms: countIn(timeout_ms),
  max_output_length: countIn(max_output_length),
})

const toExec = ({ command, env, timeout_ms, working_directory: directory }: JsonObject) => ({
  type: 'exec',
  command: textsIn(command),
  env: isObject(env) ? env : {},
  timeout_ms: countIn(timeout_ms),
  user: null,
  working_directory: typeof directory === 'string' ? directory : null,
})

function toOperation(operation: unknown): JsonObject {
  const { type, path, diff } = isObject(operation) ? operation : {}
  const isDeletion = type === 'delete_file'
  return {
    type: type === 'create_file' || isDeletion ? type : 'update_file',
    path: toText(path),
    ...(!isDeletion && { diff: toText(diff) }),
  }
}
