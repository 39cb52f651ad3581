import { type Json, capOf, isJson } from './call'
import { countTokens } from './tokens'

/** One delta of an answer and the output tokens in it. */
export interface Step {
  delta: Json
  tokens: number
}

/** One choice of an answer before it has a wire form. */
export interface Script {
  steps: Step[]
  finishReason: string
}

const greeting = 'All is well at the fake provider today, thank you.'

export const text = (content: string): Step => ({
  delta: { content },
  tokens: countTokens(content),
})

/** Splits after each run of white space, so that the pieces join to the same text. */
export const pieces = (whole: string): string[] => whole.match(/\s*\S+\s*$|\s*\S+/g) ?? [whole]

/** A text answer, one step a word. */
export const textScript = (whole: string): Script => ({
  steps: pieces(whole).map(text),
  finishReason: 'stop',
})

/** A text of exactly `count` tokens: `w1 w2 w3 …`. */
export const wordScript = (count: number): Script => ({
  steps: Array.from({ length: count }, (_, index) => text(index === 0 ? 'w1' : ` w${index + 1}`)),
  finishReason: 'stop',
})

/** One tool call as OpenAI streams it: a head with empty arguments, then their fragments. */
export function toolSteps(index: number, name: string, fragments: readonly string[]): Step[] {
  const id = `call_fake_${index + 1}`
  const head = { index, id, type: 'function', function: { name, arguments: '' } }
  return [
    { delta: { tool_calls: [head] }, tokens: countTokens(name) },
    ...fragments.map((fragment) => ({
      delta: { tool_calls: [{ index, function: { arguments: fragment } }] },
      tokens: countTokens(fragment),
    })),
  ]
}

/** Text in pieces of up to `size` characters. */
export function slices(whole: string, size: number): string[] {
  const parts: string[] = []
  for (let at = 0; at < whole.length; at += size) parts.push(whole.slice(at, at + size))
  return parts
}

/** The smallest value a JSON schema of the usual keywords accepts; unknown schemas get a string. */
export function sample(schema: unknown): unknown {
  if (!isJson(schema)) return 'text'
  if (Array.isArray(schema['enum'])) return schema['enum'][0]
  if ('const' in schema) return schema['const']
  const type = Array.isArray(schema['type']) ? schema['type'][0] : schema['type']
  if (type === 'integer' || type === 'number') return schema['minimum'] ?? 1
  if (type === 'boolean') return true
  if (type === 'null') return null
  if (type === 'array') return [sample(schema['items'])]
  if (type === 'object' || isJson(schema['properties'])) {
    const properties = isJson(schema['properties']) ? schema['properties'] : {}
    return Object.fromEntries(Object.entries(properties).map(([key, of]) => [key, sample(of)]))
  }
  return 'text'
}

/** The tool a request forces: the named one, or the first when any is required. */
function forcedTool({ tools, tool_choice: choice }: Json): Json | undefined {
  if (!Array.isArray(tools)) return undefined
  const functions = tools
    .filter(isJson)
    .map((tool) => (isJson(tool['function']) ? tool['function'] : {}))
  if (choice === 'required') return functions[0]
  if (!isJson(choice) || !isJson(choice['function'])) return undefined
  const { name } = choice['function']
  return functions.find((tool) => tool['name'] === name)
}

function jsonText(format: unknown): string | undefined {
  if (!isJson(format)) return undefined
  if (format['type'] === 'json_object') return '{"answer": "ok"}'
  if (format['type'] !== 'json_schema' || !isJson(format['json_schema'])) return undefined
  return JSON.stringify(sample(format['json_schema']['schema']))
}

/** What a good model answers: the forced tool, JSON where asked for, else a fixed sentence. */
export function scriptOf(body: Json): Script {
  const tool = forcedTool(body)
  if (tool) {
    const fragments = slices(JSON.stringify(sample(tool['parameters'])), 12)
    return { steps: toolSteps(0, String(tool['name']), fragments), finishReason: 'tool_calls' }
  }
  return textScript(jsonText(body['response_format']) ?? greeting)
}

/** The same answer, ended with `length` where it would exceed the request's output limit. */
export function capScript(script: Script, body: Json): Script {
  const cap = capOf(body)
  if (cap === null) return script
  const steps: Step[] = []
  let tokens = 0
  for (const step of script.steps) {
    tokens += step.tokens
    if (tokens > cap) return { steps, finishReason: 'length' }
    steps.push(step)
  }
  return script
}
