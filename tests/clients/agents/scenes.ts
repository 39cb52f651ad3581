/** The tasks of an agent, and the words by which the upstream recognizes them. */
export const scenes = ['plain', 'tool', 'mcp', 'long'] as const
export type Scene = (typeof scenes)[number]

type Json = Record<string, unknown>

/** A tool that an agent offers to the model. */
export interface OfferedTool {
  name: string
  /** Its namespace, if any. */
  namespace?: string
  /** Whether its input is text instead of JSON. */
  isCustom?: boolean
  /** JSON schema of its arguments. */
  parameters: Json
}

/** A request, independent of the format. */
export interface TurnRequest {
  /** All text of the user. */
  text: string
  /** The tool results so far. */
  results: readonly string[]
  tools: readonly OfferedTool[]
  isStreamed: boolean
}

export type Turn = { text: string } | { tool: OfferedTool; input: Json }

export const greeting = 'All is well at the fake provider today.'

/** Prompts of this many characters exceed the context of an upstream. */
export const maxPromptLength = 400_000

/** Returns the prompt of a scene. `file` is the subject of the tool turn. */
export function promptOf(scene: Scene, file: string): string {
  if (scene === 'plain') return 'SCENE=plain Say how you are.'
  if (scene === 'tool') return `SCENE=tool FILE=${file} Tell me what that file says.`
  if (scene === 'mcp') return 'SCENE=mcp Look up the word for "greeting" and tell me.'
  return `SCENE=long ${'word '.repeat(maxPromptLength / 4)}`
}

const shellTools =
  /^(bash|shell|shell_command|exec_command|local_shell|container\.exec|run_shell_command)$/i

/** The prefix of every word that only a tool knows. */
export const secretBeginning = 'word-'

/** The model: answers with text, or calls the tool of its scene and repeats its result. */
export function nextTurn({ text, results, tools }: TurnRequest): Turn {
  const [, scene] = /SCENE=(\w+)/.exec(text) ?? []
  const [, file = ''] = /FILE=(\S+)/.exec(text) ?? []
  const matches = results.filter((result) => result.includes(secretBeginning))
  if (matches.length > 0) return { text: `It says: ${matches.join(' ')}` }
  // An agent without tools writes files from the answer's text.
  if (scene === 'tool' && tools.length === 0) return { text: fileAnswer(file) }
  const call = scene === 'tool' ? shellCall(tools, file) : undefined
  return call ?? (scene === 'mcp' ? mcpCall(tools, results) : undefined) ?? { text: greeting }
}

/** Finds the tool by which Codex lets some models write a program that calls its tools. */
const programTool = (tools: readonly OfferedTool[]) =>
  tools.find(({ name, isCustom }) => isCustom && name === 'exec')

function shellCall(tools: readonly OfferedTool[], file: string): Turn | undefined {
  const command = `cat ${file}`
  const tool = tools.find(({ name }) => shellTools.test(name))
  if (tool) return { tool, input: shellInput(tool, command) }
  const exec = programTool(tools)
  const call = `tools.exec_command(${JSON.stringify({ cmd: command })})`
  return exec && { tool: exec, input: { program: `text(await ${call})` } }
}

function mcpCall(tools: readonly OfferedTool[], results: readonly string[]): Turn | undefined {
  const input = { key: 'greeting' }
  const tool = tools.find(({ name }) => name.includes('lookup_word'))
  if (tool) return { tool, input }
  // Claude Code offers the tools of servers only after the model has searched for them.
  const search = tools.find(({ name }) => name === 'ToolSearch')
  if (search && results.length === 0) {
    return { tool: search, input: { query: 'select:mcp__words__lookup_word', max_results: 1 } }
  }
  const exec = programTool(tools)
  const call = `tools.mcp__words__lookup_word(${JSON.stringify(input)})`
  return exec && { tool: exec, input: { program: `text(await ${call})` } }
}

/** Formats a whole file for Aider. */
const fileAnswer = (file: string) =>
  `${file.split('/').at(-1) ?? ''}\n\`\`\`\nwritten by the model\n\`\`\`\n`

/** Builds the input of a shell tool by the field names of its schema. */
function shellInput({ parameters }: OfferedTool, command: string): Json {
  const properties = objectOf(parameters['properties'])
  const name = 'cmd' in properties ? 'cmd' : 'command'
  const isList = objectOf(properties[name])['type'] === 'array'
  const input: Json = { [name]: isList ? ['bash', '-lc', command] : command }
  if ('description' in properties) input['description'] = 'Reads a file'
  return input
}

export const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const objectOf = (value: unknown): Json => (isJson(value) ? value : {})
export const listOf = (value: unknown): Json[] =>
  Array.isArray(value) ? value.filter((item): item is Json => isJson(item)) : []

/** Extracts the text of a content, in any form. */
export function textIn(content: unknown): string {
  if (typeof content === 'string') return content
  return listOf(content)
    .map((part) => (typeof part['text'] === 'string' ? part['text'] : ''))
    .join('\n')
}
