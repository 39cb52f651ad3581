import { customParameters, grammarText } from '../../wire/custom-tools'
import { isObject, type JsonObject, toText } from '../../wire/json-body'

/** The kind of a tool that its caller runs: each is called by items of its own types. */
export type ToolKind =
  | 'function'
  | 'custom'
  | 'shell'
  | 'local_shell'
  | 'apply_patch'
  | 'tool_search'

/** A tool of a caller that a function stands for. */
export interface CallerTool {
  kind: ToolKind
  name: string
  namespace?: string | undefined
}

/** Tools that OpenAI runs itself. */
const hostedKinds =
  /^(web_search|file_search|code_interpreter|image_generation|mcp$|computer|programmatic_tool_calling)/
export const isHosted = (type: string): boolean => hostedKinds.test(type)

/** Those of them that clients offer by default: Codex does, in every request. */
const optional = /^(web_search|image_generation)/
export const isOptional = (type: string): boolean => optional.test(type)

const object = (properties: JsonObject, required: readonly string[]) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})
const string = { type: 'string' }
const strings = { type: 'array', items: string }
const count = { type: 'integer' }

interface FunctionText {
  description: string
  parameters: JsonObject
}

/** The functions that stand for tools which OpenAI's models know by their type alone. */
const builtIn: Readonly<Record<Exclude<ToolKind, 'function'>, FunctionText>> = {
  custom: { description: '', parameters: customParameters },
  shell: {
    description: 'Runs shell commands on the computer of the user and returns their output.',
    parameters: object(
      {
        commands: { ...strings, description: 'The commands, which run one after the other.' },
        timeout_ms: { ...count, description: 'The time that each command may take.' },
        max_output_length: { ...count, description: 'The most characters of output to return.' },
      },
      ['commands'],
    ),
  },
  local_shell: {
    description: 'Runs one command on the computer of the user and returns its output.',
    parameters: object(
      {
        command: { ...strings, description: 'The program and its arguments.' },
        working_directory: string,
        env: { type: 'object', additionalProperties: string },
        timeout_ms: count,
      },
      ['command'],
    ),
  },
  apply_patch: {
    description:
      'Creates, updates or deletes one file. The diff is in V4A format: lines that begin with a space, "+" or "-", in sections that begin with "@@"; that of a new file has only lines with "+".',
    parameters: object(
      {
        operation: object(
          {
            type: { type: 'string', enum: ['create_file', 'update_file', 'delete_file'] },
            path: string,
            diff: { ...string, description: 'Not for delete_file.' },
          },
          ['type', 'path'],
        ),
      },
      ['operation'],
    ),
  },
  tool_search: {
    description: 'Searches for tools that can be called once they were found.',
    parameters: object({ query: string }, ['query']),
  },
}

/** A tool as the function of a chat request that stands for it. `before`: words about its namespace. */
export function toFunction(
  { kind }: Pick<CallerTool, 'kind'>,
  tool: JsonObject,
  { name, before }: { name: string; before: string },
): JsonObject {
  const described = [before, toText(tool['description']), grammarOf(tool['format'])]
  const description = described.filter((texts) => texts !== '').join('\n\n')
  if (kind === 'function') {
    const { parameters, strict } = tool
    return asTool({
      name,
      ...(description && { description }),
      ...(isObject(parameters) && { parameters }),
      ...(typeof strict === 'boolean' && { strict }),
    })
  }
  const usual = builtIn[kind]
  const texts = description || usual.description
  const usesOwnParameters = kind === 'tool_search' && isObject(tool['parameters'])
  return asTool({
    name,
    ...(texts && { description: texts }),
    parameters: usesOwnParameters ? tool['parameters'] : usual.parameters,
  })
}

const asTool = (definition: JsonObject): JsonObject => ({ type: 'function', function: definition })

function grammarOf(format: unknown): string {
  if (!isObject(format) || format['type'] !== 'grammar') return ''
  return grammarText(format['syntax'], format['definition'])
}
